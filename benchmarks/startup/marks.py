"""Moments of a start that a script of this benchmark writes down; nothing happens where nobody asked for them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

FILE = "GLUEPOT_BENCH_MARKS"
"""Names the file that gets a line `SECONDS NAME` for each moment, in seconds since 1970."""


def mark(name: str) -> None:
    """Write down that something is done now."""
    if path := os.environ.get(FILE):
        with Path(path).open("a") as file:
            file.write(f"{time.time()} {name}\n")  # noqa: TID251  compared with the clock of the file system


def mark_jvm() -> None:
    """Have the moments before and after the wait for the JVM written down."""
    from pyspark.core import context  # noqa: PLC0415  must not be loaded before the script's own imports

    launch = context.launch_gateway

    def marked(conf: object = None, popen_kwargs: object = None) -> object:
        mark("script and its imports")
        gateway = launch(conf, popen_kwargs)  # type: ignore[arg-type]
        mark("wait for the JVM")
        return gateway

    context.launch_gateway = marked  # type: ignore[assignment]


def read(path: Path) -> list[tuple[str, float]]:
    """Return what was written down: names with seconds since 1970, in their order."""
    lines = [line.split(" ", 1) for line in path.read_text().splitlines()] if path.exists() else []
    return [(name, float(at)) for at, name in lines]


def first_of_each(moments: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return the moments in their order, each name only where it comes first."""
    first: dict[str, float] = {}
    for name, at in sorted(moments, key=lambda one: one[1]):
        first.setdefault(name, at)
    return list(first.items())
