"""The journal against the files, compared by DuckDB as multisets: what is lost, doubled, invented."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import duckdb

from tests.crash import manifests
from tests.crash.journal import Sent
from tests.crash.lanes import Folder

# `n` copies of a digest. Summed per digest, never made distinct: a copy too many has to show.
COMPARE = """
WITH want AS (SELECT digest, count(*) AS n FROM wanted GROUP BY digest),
     have AS (SELECT digest, count(*) AS n FROM found GROUP BY digest),
     joined AS (SELECT coalesce(w.n, 0) AS want, coalesce(h.n, 0) AS have
              FROM want w FULL JOIN have h ON w.digest = h.digest)
SELECT coalesce(sum(greatest(want - have, 0)), 0),
       coalesce(sum(greatest(have - want, 0)) FILTER (WHERE want > 0), 0),
       coalesce(sum(have) FILTER (WHERE want = 0), 0)
FROM joined
"""
ROWS = """
SELECT sha256(event_id || '|' || kind || '|' || amount || '|' || text) AS digest
FROM read_parquet({files}, union_by_name = true, hive_partitioning = true, hive_types_autocast = false)
"""
REJECTS = """
SELECT sha256(raw) || ' ' || stream || ' ' || shard || ' ' || position AS digest FROM read_parquet({files})
"""
NONE = "SELECT '' AS digest WHERE false"


@dataclass(frozen=True, slots=True)
class Expected:
    """What of the journal one table must hold.

    Args:
        table: name of its folder.
        where: SQL condition on the journal's good records.
        rejects: whether every malformed record must be among the table's rejects; otherwise none may be.
    """

    table: str
    where: str = "true"
    rejects: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """A comparison's outcome; all zeros is right.

    Args:
        rows: records found, rejected ones included.
        lost: acknowledged records that are missing, each as often as it is missing.
        doubled: copies beyond those that were sent.
        invented: records that nobody sent, or whose content is another one.
    """

    rows: int
    lost: int
    doubled: int
    invented: int

    @property
    def right(self) -> bool:
        return (self.lost, self.doubled, self.invented) == (0, 0, 0)

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict(
            self.rows + other.rows,
            self.lost + other.lost,
            self.doubled + other.doubled,
            self.invented + other.invented,
        )


def check_folder(journal: Path, table: Folder, expected: Expected, compare: str = COMPARE) -> Verdict:
    """Compare what a reader finds who lists the folder and knows nothing of manifests."""
    keys = table.keys()
    data = [key for key in keys if key.endswith(".parquet")]
    return check_files(journal, table, data, [key for key in keys if key.endswith(".rejects")], expected, compare)


def check_manifests(journal: Path, table: Folder, expected: Expected, compare: str = COMPARE) -> Verdict:
    """Compare what a reader finds who opens the files that the manifests name."""
    live = [manifests.read(table, name) for name in manifests.newest(manifests.names(table))]
    data = [path for one in live for path in one.data]
    return check_files(journal, table, data, [path for one in live for path in one.rejects], expected, compare)


def check_files(
    journal: Path,
    table: Folder,
    data: Iterable[str],
    rejects: Iterable[str],
    expected: Expected,
    compare: str = COMPARE,
) -> Verdict:
    with duckdb.connect() as db:
        columns = {one.name: "VARCHAR" for one in fields(Sent)}
        source = f"read_json('{journal}', format = 'newline_delimited', columns = {columns})"
        db.execute(f"CREATE TABLE journal AS SELECT * FROM {source}")
        good = f"SELECT digest FROM journal WHERE kind <> '' AND ({expected.where})"
        bad = "SELECT digest || ' ' || stream || ' ' || shard || ' ' || position AS digest FROM journal WHERE kind = ''"
        return _compared(db, good, ROWS, _fetched(table, data), compare) + _compared(
            db, bad if expected.rejects else NONE, REJECTS, _fetched(table, rejects), compare
        )


def _fetched(table: Folder, keys: Iterable[str]) -> Sequence[str]:
    return [str(table.fetch(key)) for key in keys]


def _compared(db: duckdb.DuckDBPyConnection, wanted: str, select: str, files: Sequence[str], compare: str) -> Verdict:
    db.execute(f"CREATE OR REPLACE TABLE wanted AS {wanted}")
    db.execute(f"CREATE OR REPLACE TABLE found AS {select.format(files=list(files)) if files else NONE}")
    (rows,) = db.execute("SELECT count(*) FROM found").fetchall()[0]
    lost, doubled, invented = db.execute(compare).fetchall()[0]
    return Verdict(int(rows), int(lost), int(doubled), int(invented))
