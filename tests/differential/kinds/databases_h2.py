"""H2 in its modes, behind its Java driver: tables written in random cuts beside rows that SQL inserts one by one."""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from gluepot.connectors.jdbc.relation import Table as Named
from gluepot.connectors.jdbc.settings import HashPartitions, JdbcReadSettings
from gluepot.connectors.jdbc.spark import SparkRelation
from gluepot.core.errors import EtlError
from tests.database_writes import write
from tests.differential.database_tables import (
    DOCUMENT,
    US,
    Form,
    Table,
    amount,
    cut,
    cut_of_both,
    day,
    document,
    json_text,
    long_word,
    moment,
    new_table,
    number,
    of_list,
    one_of,
    random_table,
    range_of,
    small,
    texts,
    whole,
    word,
)
from tests.differential.kind import Difference, Round, World
from tests.h2 import H2, H2Database, h2_server

TABLES = 3
OLD_DATES = "Dates before 1582-10-15 through a Java driver"
MODES = ("Regular", "Oracle", "MSSQLServer", "DB2")
WORD = Form(pa.string(), "", word(3))
TINY, SHORT = Form(pa.int8(), "", whole(8)), Form(pa.int16(), "", whole(16))
INT, LONG = Form(pa.int32(), "", whole(32)), Form(pa.int64(), "", whole(64))
DOUBLE, SMALL = Form(pa.float64(), "DOUBLE PRECISION", number), Form(pa.float64(), "DOUBLE PRECISION", small)
MONEY = Form(pa.decimal128(10, 2), "DECIMAL(10,2)", amount(10, 2))
FINE = Form(pa.decimal128(20, 6), "DECIMAL(20,6)", amount(9, 6))
BOOL = Form(pa.bool_(), "", one_of(True, False))
BYTES = Form(pa.binary(), "", lambda random: random.randbytes(random.randint(1, 5)))
DAY, MOMENT = Form(pa.date32(), "", day), Form(US, "", moment)
STRUCT = Form(DOCUMENT, "", document, json_text)
LIST = Form(pa.list_(pa.int64()), "", of_list(whole(64)), json_text)
TYPES: dict[str, list[Form]] = {
    "SMALLINT": [SHORT, TINY],
    "INT": [INT, SHORT, LONG],
    "BIGINT": [LONG, INT],
    "DECIMAL(10,2)": [MONEY, INT, FINE],
    "DECIMAL(38,18)": [FINE, LONG, MONEY],
    "REAL": [Form(pa.float32(), "REAL", one_of(0.5, -1.25, 0.0))],
    "DOUBLE PRECISION": [DOUBLE, SMALL, INT],
    "VARCHAR(3)": [WORD],
    "VARCHAR(30)": [Form(pa.string(), "", word(9)), INT, BOOL],
    "CHAR(3)": [WORD],
    "CLOB": [Form(pa.string(), "", word(9)), STRUCT, LIST],
    "VARBINARY(5)": [BYTES],
    "DATE": [DAY],
    "TIMESTAMP(6)": [MOMENT],
    "TIMESTAMP(3)": [MOMENT],
    "TIME(0)": [texts("10:00:00", "23:59:59", wrong="25:00:00")],
    "UUID": [texts("6e8bc430-9c3a-11d9-9669-0800200c9a66", wrong="x")],
}
KEYS = ("INT", "BIGINT", "VARCHAR(30)", "DATE", "DECIMAL(10,2)", "TIMESTAMP(6)", "TIMESTAMP(3)", "CHAR(3)")
# The type that a new column gets for values of each form.
NEW = {
    TINY: "SMALLINT", SHORT: "SMALLINT", INT: "INTEGER", LONG: "BIGINT", DOUBLE: "DOUBLE PRECISION",
    MONEY: "DECIMAL(10,2)", FINE: "DECIMAL(20,6)", BOOL: "BOOLEAN", DAY: "DATE", MOMENT: "TIMESTAMP(6)",
    Form(pa.string(), "", long_word): "VARCHAR",
}  # fmt: skip
MORE = ("d1 VARCHAR(9) DEFAULT 'open'", "d2 INT DEFAULT 7 NOT NULL", "g1 INT GENERATED ALWAYS AS (1 + 1)")


class Kind:
    """See `tests.differential.kind.Kind`."""

    name = "databases_h2"
    unit = "tables"

    def __init__(self, server: H2 | None = None) -> None:
        self.server = server
        self._opened = ExitStack()

    def close(self) -> None:
        """Stop the server if this has started it."""
        self._opened.close()

    def round(self, random: Random, world: World) -> Round:
        """Compare some tables in one of H2's modes."""
        if self.server is None:
            atexit.register(self.close)
            self.server = self._opened.enter_context(h2_server())
        result, mode = Round(), random.choice(MODES)
        database = self.server.new_database(mode)
        for _ in range(TABLES):
            table = random_table(random, TYPES, KEYS, MORE)
            definition = table.definition(_quoted)
            for name in ("OURS", "THEIRS"):
                database.sql(f"DROP TABLE IF EXISTS {name}", f"CREATE TABLE {name} ({definition})")
            self._compare(random, world, database, table, result)
        for _ in range(2 if mode == "Regular" else 0):
            self._compare_new(random, world, database, result)
        return result

    def _compare_new(self, random: Random, world: World, database: H2Database, result: Round) -> None:
        """Write to a table that is not there, and compare with one that has the types which are documented."""
        database.sql("DROP TABLE IF EXISTS OURS", "DROP TABLE IF EXISTS THEIRS")
        table, _ = new_table(random, NEW, "VARCHAR")
        declared = {one.form: NEW[one.form] for one in table.columns}
        table.columns = [replace(one, declared=declared[one.form]) for one in table.columns]
        database.sql(f"CREATE TABLE THEIRS ({table.definition(_quoted)})")
        wanted = _inserted(database, table)
        options = {**database.options, "dbtable": "OURS", "mode": "append", "redshiftTmpDir": str(world.folder)}
        ours: Any
        try:
            write(options, *cut_of_both(random, table, None))
            ours = (_types(database, "OURS"), _rows(database, table, "OURS"))
        except EtlError as error:
            ours = str(error)
        if ours != (both := (_types(database, "THEIRS"), wanted)):
            explained = OLD_DATES if any(map(_is_old, (one for row in table.rows for one in row.values()))) else ""
            result.differences.append(Difference(f"new table {table}", str(ours), str(both), explained))

    def _compare(self, random: Random, world: World, database: H2Database, table: Table, result: Round) -> None:
        spark = world.spark()  # writes need it, too
        wanted = _inserted(database, table)
        if table.mode == "upsert" and _changes_keys(table):
            wanted = None
        is_refused = wanted is None
        table.cuts = cut(random, table, most_writes=1 if is_refused else 2)
        options = {**database.options, "dbtable": "OURS", "mode": table.mode, "redshiftTmpDir": str(world.folder)}
        if table.mode == "upsert":
            options["upsertKeys"] = table.keys
        result.cases += 1
        try:
            for tasks in table.cuts:
                write(options, *tasks)
            ours: Any = _rows(database, table, "OURS")
            result.taken += 1
        except EtlError as error:
            ours = str(error)
        differs = isinstance(ours, str) != is_refused if is_refused or isinstance(ours, str) else ours != wanted
        if differs or (is_refused and database.sql("SELECT COUNT(*) FROM OURS") != [("0",)]):
            explained = OLD_DATES if any(map(_is_old, (one for row in table.rows for one in row.values()))) else ""
            result.differences.append(Difference(f"{database.url} {table}", str(ours), str(wanted), explained))
        column = random.choice([one for one in table.columns if one.declared != "CLOB"] or [table.columns[0]])
        settings = JdbcReadSettings.from_glue({**database.options, "dbtable": "THEIRS"})
        assert isinstance(settings.relation, Named)
        ranges = [range_of(random, one.name) for one in table.columns if one.declared in {"INT", "SMALLINT", "BIGINT"}]
        option = random.choice(
            [
                HashPartitions(column.name, None, 3),
                HashPartitions(None, _quoted(column.name), random.choice([1, 3])),
                *ranges[:1],
            ]
        )
        cuts = [one.render(str) for one in SparkRelation.open(spark, settings).cuts(option)] or ["1 = 1"]
        counts = [database.sql(f"SELECT COUNT(*) FROM THEIRS WHERE {one}") for one in cuts]
        every = int(str(database.sql("SELECT COUNT(*) FROM THEIRS")[0][0]))
        if sum(int(str(count)) for ((count,),) in counts) != every:
            result.differences.append(Difference(f"parts by {option} of {column.declared}", str(counts), str(every)))


def _changes_keys(table: Table) -> bool:
    """Return whether the column of a key rounds a value; two keys could become one."""
    rounded = [one.name for one in table.columns if one.is_key and one.declared == "TIMESTAMP(3)"]
    return any(row[name].microsecond % 1000 for row in table.rows for name in rounded)


def _types(database: H2Database, name: str) -> Any:
    return database.sql(
        "SELECT COLUMN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION"
        f" FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = '{name}' ORDER BY COLUMN_NAME"
    )


def _is_old(value: Any) -> bool:
    return isinstance(value, date) and (value.year, value.month, value.day) < (1582, 10, 15)


def _inserted(database: H2Database, table: Table) -> list[Any] | None:
    """Insert the rows one by one; return all rows, or None if a row is refused."""
    names = ", ".join(_quoted(one.name) for one in table.columns)
    into = f"INSERT INTO THEIRS ({names})"
    if table.mode == "upsert":
        into = f"MERGE INTO THEIRS ({names}) KEY ({', '.join(map(_quoted, table.keys))})"
    for row in table.rows:
        values = ", ".join(_literal(one.form, row[one.name]) for one in table.columns)
        try:
            database.sql(f"{into} VALUES ({values})")
        except AssertionError:
            return None
    return _rows(database, table, "THEIRS")


def _rows(database: H2Database, table: Table, name: str) -> list[Any]:
    listed = ", ".join([*(_quoted(one.name) for one in table.columns), *(one.split()[0] for one in table.more)])
    return sorted(database.sql(f"SELECT {listed} FROM {name}"), key=str)


def _literal(form: Form, value: Any) -> str:
    if value is None:
        return "NULL"
    plain = form.plain(value)
    match plain:
        case bool():
            return str(plain).upper()
        case bytes():
            return f"X'{plain.hex()}'"
        case str():
            return "'" + plain.replace("'", "''") + "'"
        case datetime():
            return f"TIMESTAMP '{plain.isoformat(' ')}'"
        case date():
            return f"DATE '{plain.isoformat()}'"
        case float():
            text = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(plain), repr(plain))
            return f"CAST('{text}' AS {form.sent})"
        case Decimal():
            return f"CAST({plain:f} AS {form.sent})"
    return f"CAST({plain} AS BIGINT)"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
