"""Comparing a table with what was sent, read by DuckDB: neither Spark nor our own code looks at the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TableCheck:
    """What the files hold.

    Args:
        rows: records in the table.
        rejected: records in `_rejects`.
        lost: good events that are not in the table.
        duplicated: records beyond the first of each event.
        files: data files.
        columns: columns of the table.
    """

    rows: int
    rejected: int
    lost: int
    duplicated: int
    files: int
    columns: Sequence[str]


def check_table(table: Path, good_events: int, total_events: int, broken_every: int) -> TableCheck:
    """Count rows, and compare the event numbers with those that were sent.

    Args:
        table: the folder.
        good_events: events that must be in it.
        total_events: numbers run from 0 to below this.
        broken_every: each so-manieth was broken on purpose.
    """
    import duckdb  # noqa: PLC0415  an extra

    files = sorted(str(path) for path in table.rglob("*.parquet"))
    rejects = sorted(str(path) for path in table.rglob("*.rejects"))
    with duckdb.connect() as db:
        rejected = _one(db.execute("SELECT count(*) FROM read_parquet(?)", [rejects])) if rejects else 0
        if not files:
            return TableCheck(0, rejected, good_events, 0, 0, ())
        db.execute(
            "CREATE VIEW t AS SELECT * FROM read_parquet(?, union_by_name=true, hive_partitioning=true)".replace(
                "?", repr(files)
            )
        )
        rows, distinct = db.execute("SELECT count(*), count(DISTINCT event_id) FROM t").fetchall()[0]
        lost = _one(
            db.execute(
                "SELECT count(*) FROM (SELECT range AS n FROM range(?) WHERE range % ? <> ? - 1) s"
                " WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.event_id = s.n)",
                [total_events, broken_every, broken_every],
            ),
        )
        columns = tuple(str(row[0]) for row in db.execute("DESCRIBE t").fetchall())
    return TableCheck(rows, rejected, lost, rows - distinct, len(files), columns)


def _one(answer: object) -> int:
    return int(answer.fetchall()[0][0])  # type: ignore[attr-defined]
