"""`python -m benchmarks.databases --before DIR`: what a change costs writes and reads of PostgreSQL and MariaDB.

This version and an earlier one take turns: append into an empty table, upsert into a table that has every second row,
and a read in four parts. Each has a Spark process and a table of its own, in the same servers. After each write the
table is asked for its rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import psycopg

from benchmarks.paired import BEFORE, BEFORE_HELP, Side, ratio
from benchmarks.side import Drain
from benchmarks.trial import parser_for, trial
from tests.mariadb import mariadb_server, new_schema, sql
from tests.postgresql import new_database, postgresql_endpoint

OURS = "gluepot"
TABLES = {
    "postgresql": """
CREATE TABLE {name} (id BIGINT PRIMARY KEY, customer INT, status TEXT, email TEXT, amount NUMERIC(12, 2),
  created TIMESTAMPTZ, ratio DOUBLE PRECISION, note TEXT)""",
    "mysql": """
CREATE TABLE {name} (id BIGINT PRIMARY KEY, customer INT, status TEXT, email TEXT, amount DECIMAL(12, 2),
  created DATETIME(6), ratio DOUBLE, note TEXT)""",
}
HALF = "INSERT INTO {name} (id) SELECT {numbers} * 2 FROM {series}"
SERIES = {
    "postgresql": ("n", "generate_series(0, {last}) AS n"),
    "mysql": ("seq", "seq_0_to_{last}"),
}
OPERATIONS = ("append", "read", "upsert")
"""In this order: a read finds the rows that the append wrote."""


def main() -> None:
    """Start the servers and both versions, run the pairs, print the ratios."""
    parser = parser_for(__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=25)
    parser.add_argument("--before", type=Path, required=True, help=BEFORE_HELP)
    arguments = parser.parse_args()
    with (
        trial("databases", arguments.save) as (folder, result),
        postgresql_endpoint() as server,
        new_database(server) as postgresql,
        mariadb_server() as port,
        new_schema(port) as mariadb,
        psycopg.connect(postgresql, autocommit=True) as connection,
    ):
        execute: dict[str, Callable[[str], Sequence[Sequence[object]]]] = {
            "postgresql": partial(_rows_of_postgresql, connection),
            "mysql": partial(sql, mariadb),
        }
        result["ways"] = _measure(arguments, folder, (postgresql, mariadb), execute)
    for way, figures in result["ways"].items():
        print(f"{way:18} {OURS} takes {figures['secs']} times as long as before, CPU {figures['cpu_secs']}")


def _measure(
    arguments: argparse.Namespace,
    folder: Path,
    urls: tuple[str, str],
    execute: dict[str, Callable[[str], Sequence[Sequence[object]]]],
) -> dict[str, dict[str, float]]:
    """Run all pairs of all ways, of which the first is for warming up."""
    of_module = (str(folder), str(arguments.rows), *urls)
    started = [
        Side.start(OURS, "benchmarks.databases.ours", *of_module),
        Side.start(BEFORE, "benchmarks.databases.ours", *of_module, checkout=arguments.before.resolve()),
    ]
    ways = [f"{kind} {operation}" for kind in TABLES for operation in OPERATIONS]
    sides = {way: [Side(side.name, side.process, way) for side in started] for way in ways}
    for pair in range(arguments.pairs + 1):
        for way, both in sides.items():
            for side in both if pair % 2 else reversed(both):
                _run(side, arguments.rows, execute[way.split()[0]], counts=pair > 0)
    for side in started:
        side.stop()
    return {
        way: {"secs": ratio(before.secs, ours.secs), "cpu_secs": ratio(before.cpu_secs, ours.cpu_secs)}
        for way, (ours, before) in sides.items()
    }


def _run(side: Side, rows: int, execute: Callable[[str], Sequence[Sequence[object]]], *, counts: bool) -> None:
    """Prepare the table of a side, let it read or write, and check the number of rows."""
    kind, operation = side.way.split()
    name = f"of_{side.name}"
    if operation != "read":
        execute(f"DROP TABLE IF EXISTS {name}")
        execute(TABLES[kind].format(name=name))
    if operation == "upsert":
        numbers, series = SERIES[kind]
        execute(HALF.format(name=name, numbers=numbers, series=series.format(last=rows // 2 - 1)))
    side.run(Drain("", name), counts=counts)
    ((in_table, emails),) = execute(f"SELECT COUNT(*), COUNT(DISTINCT email) FROM {name}")
    if (in_table, emails) != (rows, rows):
        raise SystemExit(f"{side.name}, {side.way}: {in_table} rows with {emails} emails, {rows} of each expected")


def _rows_of_postgresql(connection: psycopg.Connection[tuple[object, ...]], statement: str) -> list[tuple[object, ...]]:
    cursor = connection.execute(statement.encode())
    return cursor.fetchall() if cursor.description else []


if __name__ == "__main__":
    main()
