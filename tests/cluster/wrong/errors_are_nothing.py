"""The product, wrong: a write that fails is taken for one that is done."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from gluepot.cli.main import main
from gluepot.engine.writer import TableWriter

if __name__ == "__main__":
    right = TableWriter.write

    def write(*given: Any) -> None:
        with suppress(Exception):
            right(*given)

    TableWriter.write = write
    main()
