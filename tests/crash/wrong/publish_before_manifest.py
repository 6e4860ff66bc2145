"""The product, wrong: files become visible, under names of this driver alone, and nothing says beforehand which."""

from __future__ import annotations

from importlib import import_module

from gluepot.cli.main import main

if __name__ == "__main__":
    publishing = import_module("gluepot.commit.publish")  # the package has a function of that name
    publishing._begin = lambda *_: None
    main()
