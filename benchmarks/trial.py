"""What measurements have in common: arguments, a folder that goes, a result that is kept, sums to compare."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.machine import described


def parser_for(description: str | None, cores: int = 2) -> argparse.ArgumentParser:
    """Return a parser with what every measurement that is kept can be told; its own arguments are added to it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=cores)
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the result with machine and versions")
    return parser


@contextmanager
def trial(name: str, save: Path | None) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Give a folder for everything that is written, and a result to fill in; both are dealt with at the end.

    Args:
        name: for the folder.
        save: where the result goes, with machine, versions and command as they were at the begin; None for nowhere.
    """
    measured_with = described()
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix=f"gluepot-{name}-", ignore_cleanup_errors=True) as folder:
        yield Path(folder), result
    if save:
        save.parent.mkdir(parents=True, exist_ok=True)
        save.write_text(json.dumps({**result, "measured_with": measured_with}, indent=1) + "\n")


def sums(source: str, checked: Sequence[str]) -> tuple[int, ...]:
    """Return the records, and of each expression a sum over its values with the number of their record.

    Args:
        source: what follows FROM in DuckDB's SQL; has a column `event_id`.
        checked: SQL of what is compared.
    """
    with duckdb.connect() as db:
        each = ", ".join(f"bit_xor(hash(event_id, {one}))" for one in checked)
        return tuple(db.execute(f"SELECT count(*), {each} FROM {source}").fetchall()[0])


def rounded(values: Sequence[float]) -> list[float]:
    """Return seconds as people read them; what is a thousandth of one more or less tells nothing."""
    return [round(value, 2) for value in values]
