"""The product, wrong: files become visible under names of this process alone, and nothing says beforehand which."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any
from uuid import uuid4

from gluepot.cli import main

OWN = uuid4().hex


def own_name(right: Callable[..., str]) -> Callable[..., str]:
    def name(*args: Any) -> str:
        folder, slash, file = right(*args).rpartition("/")
        return f"{folder}{slash}{OWN}-{file}"

    return name


if __name__ == "__main__":
    publishing = import_module("batch.commit.publish")  # the package has a function of that name
    publishing._begin = lambda *_: None
    for module in (publishing, import_module("batch.commit.record")):
        module.of_generation = own_name(module.of_generation)
    main()
