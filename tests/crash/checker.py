"""The journal against the tables, compared by DuckDB as multisets: what is lost, doubled, invented."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import duckdb
import pyarrow as pa

from tests.crash import manifests
from tests.crash.database import Database
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
ROWS = "SELECT sha256(event_id || '|' || kind || '|' || amount || '|' || text) AS digest FROM "
REJECTS = "SELECT sha256(raw) || ' ' || stream || ' ' || shard || ' ' || position AS digest FROM "
PARQUET = "read_parquet({}, union_by_name = true, hive_partitioning = true, hive_types_autocast = false)"
NONE = "SELECT '' AS digest WHERE false"


@dataclass(frozen=True, slots=True)
class Expected:
    """What of the journal one table must hold, or several together.

    Args:
        table: name of its folder, or of the table in a database.
        where: SQL condition on the journal's good records.
        rejects: whether every malformed record must be among the table's rejects; otherwise none may be.
        several: these are the tables below the folder, or those whose names go on after the name.
    """

    table: str
    where: str = "true"
    rejects: bool = True
    several: bool = False


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
    live = [
        (f"{name}/" if name else "", manifest)
        for name, part in parts(table, expected).items()
        for manifest in manifests.live(part)
    ]
    data = [below + path for below, one in live for path in one.data]
    rejects = [below + path for below, one in live for path in one.rejects]
    return check_files(journal, table, data, rejects, expected, compare)


def parts(table: Folder, expected: Expected) -> Mapping[str, Folder]:
    """The tables that there are of an expected one, by their names below it; it is its only part under no name."""
    if not expected.several:
        return {"": table}
    names = dict.fromkeys(key.partition("/")[0] for key in table.keys(""))
    return {name: table.below(name) for name in names}


def check_files(
    journal: Path,
    table: Folder,
    data: Iterable[str],
    rejects: Iterable[str],
    expected: Expected,
    compare: str = COMPARE,
) -> Verdict:
    good, bad = _fetched(table, data), _fetched(table, rejects)
    with _journal(journal) as db:
        rows, malformed = (PARQUET.format(files) if files else "" for files in (good, bad))
        return _compared(db, expected, rows, malformed, compare)


def check_database(journal: Path, database: Database, expected: Expected, *, committed: bool) -> Verdict:
    """Compare what a reader finds in a database's tables, or in those of their rows whose transaction is on record."""
    tables = database.tables(expected.table, several=expected.several)
    with _journal(journal) as db:
        names = [
            _registered(db, "of_tables", [database.rows(one, committed=committed) for one in tables]),
            _registered(db, "malformed", [database.rejects(one) for one in tables]),
        ]
        return _compared(db, expected, *names, COMPARE)


@contextmanager
def _journal(journal: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as db:
        columns = {one.name: "VARCHAR" for one in fields(Sent)}
        source = f"read_json('{journal}', format = 'newline_delimited', columns = {columns})"
        db.execute(f"CREATE TABLE journal AS SELECT * FROM {source}")
        yield db


def _registered(db: duckdb.DuckDBPyConnection, name: str, tables: Sequence[pa.Table]) -> str:
    """Make rows known under a name; return it, or nothing where there are none."""
    found = [one for one in tables if one.num_rows]
    if not found:
        return ""
    db.register(name, pa.concat_tables(found))
    return name


def _fetched(table: Folder, keys: Iterable[str]) -> list[str]:
    return [str(table.fetch(key)) for key in keys]


def _compared(db: duckdb.DuckDBPyConnection, expected: Expected, rows: str, rejects: str, compare: str) -> Verdict:
    good = f"SELECT digest FROM journal WHERE kind <> '' AND ({expected.where})"
    bad = "SELECT digest || ' ' || stream || ' ' || shard || ' ' || position AS digest FROM journal WHERE kind = ''"
    return _verdict(db, good, ROWS + rows if rows else NONE, compare) + _verdict(
        db, bad if expected.rejects else NONE, REJECTS + rejects if rejects else NONE, compare
    )


def _verdict(db: duckdb.DuckDBPyConnection, wanted: str, found: str, compare: str) -> Verdict:
    db.execute(f"CREATE OR REPLACE TABLE wanted AS {wanted}")
    db.execute(f"CREATE OR REPLACE TABLE found AS {found}")
    (rows,) = db.execute("SELECT count(*) FROM found").fetchall()[0]
    lost, doubled, invented = db.execute(compare).fetchall()[0]
    return Verdict(int(rows), int(lost), int(doubled), int(invented))
