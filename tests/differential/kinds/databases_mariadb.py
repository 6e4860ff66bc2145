"""MariaDB: tables written in random cuts beside rows that its own client inserts one by one."""

from __future__ import annotations

import atexit
import math
from contextlib import ExitStack
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pymysql

from gluepot.connectors.jdbc.dialect import dialect_of
from gluepot.connectors.jdbc.mysql.columns import quoted
from gluepot.connectors.jdbc.plan import hash_cuts, range_cuts
from gluepot.connectors.jdbc.sql import sql
from gluepot.core.errors import EtlError
from gluepot.core.sockets import LOOPBACK
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
from tests.mariadb import mariadb_server, new_schema, schema_of

TABLES = 6
WORD = Form(pa.string(), "", word(3))
TINY, SHORT = Form(pa.int8(), "", whole(8)), Form(pa.int16(), "", whole(16))
INT, LONG = Form(pa.int32(), "", whole(32)), Form(pa.int64(), "", whole(64))
DOUBLE, SMALL = Form(pa.float64(), "DOUBLE", number), Form(pa.float64(), "DOUBLE", small)
MONEY = Form(pa.decimal128(10, 2), "DECIMAL(10,2)", amount(10, 2))
FINE = Form(pa.decimal128(20, 6), "DECIMAL(20,6)", amount(9, 6))
BOOL = Form(pa.bool_(), "", one_of(True, False))
BYTES = Form(pa.binary(), "", lambda random: random.randbytes(random.randrange(5)))
DAY, MOMENT = Form(pa.date32(), "DATE", day), Form(US, "DATETIME(6)", moment)


def single(value: float) -> float:
    """Return the double with the digits that a single precision number has."""
    return float(str(np.float32(value)))


REAL = Form(pa.float32(), "DOUBLE", one_of(0.5, -1.25, 2.0**100, 0.0, 3.0, 16777216.0), single)
TENTH = Form(pa.float32(), "DOUBLE", lambda random: float(np.float32(random.randint(-99, 99) / 10)), single)
# MySQL's dates end with the year 9999.
FAR_DAYS = {2_932_896: "9999-12-31", 2_932_897: "10000-01-01", -719_162: "0001-01-01"}
FAR_DAY = Form(pa.date32(), "", one_of(*FAR_DAYS), FAR_DAYS.__getitem__)
NUMBERS = texts("1", "-2", "30", "1e1", wrong="x")
STRUCT = Form(DOCUMENT, "", document, json_text)
LIST = Form(pa.list_(pa.int64()), "", of_list(whole(64)), json_text)
TYPES: dict[str, list[Form]] = {
    "tinyint": [TINY, BOOL, INT, NUMBERS],
    "smallint unsigned": [TINY, SHORT, INT],
    "mediumint": [SHORT, INT, SMALL],
    "int": [INT, SHORT, LONG, SMALL, MONEY, NUMBERS],
    "bigint": [LONG, INT, SMALL, FINE],
    "bigint unsigned": [LONG, Form(pa.uint64(), "", one_of(0, 2**64 - 1))],
    "decimal(10,2)": [MONEY, INT, FINE, SMALL, NUMBERS],
    "decimal(38,18)": [FINE, LONG, MONEY],
    "float": [SMALL, REAL, INT, MONEY],
    "double": [DOUBLE, REAL, TENTH, LONG, FINE, NUMBERS],
    "bit(3)": [Form(pa.int8(), "", one_of(0, 5, 7, 8))],
    "char(3)": [WORD, SHORT],
    "varchar(3)": [WORD, TINY],
    "varchar(9)": [Form(pa.string(), "", word(9)), INT, DAY],
    "text": [Form(pa.string(), "", word(9)), LONG, STRUCT, LIST],
    "varbinary(3)": [BYTES],
    "blob": [BYTES, WORD],
    "date": [DAY, MOMENT, FAR_DAY, texts("2024-02-29", wrong="2023-02-29")],
    "datetime": [MOMENT, DAY],
    "datetime(3)": [MOMENT],
    "datetime(6)": [MOMENT, DAY, texts("2024-02-29 10:00:00.5", wrong="x")],
    "timestamp(6) NULL": [Form(US, "DATETIME(6)", lambda random: moment(random).replace(year=random.randint(1990, 2030), day=1))],
    "time(3)": [texts("10:00:00.1234", "-800:00:00", wrong="x")],
    "year": [Form(pa.int16(), "", one_of(1901, 2155, 2024))],
    "enum('a','b')": [texts("a", "b", wrong="c")],
    "set('a','b')": [texts("a", "a,b", "", wrong="c")],
    "json": [STRUCT, LIST, texts('{"a" : [1, null]}', wrong="{")],
}  # fmt: skip
KEYS = ("int", "bigint", "varchar(9)", "date", "decimal(10,2)", "datetime(6)", "char(3)", "varbinary(3)")
# The type that a new column gets for values of each form.
NEW = {
    TINY: "tinyint", SHORT: "smallint", INT: "int", LONG: "bigint", REAL: "float", DOUBLE: "double",
    MONEY: "decimal(10,2)", FINE: "decimal(20,6)", BOOL: "tinyint(1)", BYTES: "longblob", DAY: "date",
    MOMENT: "datetime(6)", STRUCT: "json", Form(pa.string(), "", long_word): "longtext",
}  # fmt: skip
# Numbers that are divided by ranges and by expressions: on bounds, beyond them, between integers, and none.
SHARED = "SELECT seq / 2 - 10 AS n FROM seq_0_to_40 UNION ALL SELECT NULL"
MORE = (
    "d1 varchar(9) DEFAULT 'open'",
    "d2 int NOT NULL DEFAULT 7",
    "g1 int AS (1 + 1) STORED",
    "i1 int AUTO_INCREMENT UNIQUE",
)


class Kind:
    """See `tests.differential.kind.Kind`."""

    name = "databases_mariadb"
    unit = "tables"

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self._opened = ExitStack()
        self._url = ""
        self._client: Any = None

    @property
    def client(self) -> Any:
        """A cursor of MariaDB's client for Python in an empty database."""
        if self._client is None:
            atexit.register(self.close)
            port = self.port or self._opened.enter_context(mariadb_server())
            self._url = self._opened.enter_context(new_schema(port))
            login = {"host": LOOPBACK, "port": port, "user": "root", "database": schema_of(self._url)}
            connection = pymysql.connect(**login, autocommit=True, ssl_disabled=True, charset="utf8mb4")
            self._opened.callback(connection.close)
            self._client = connection.cursor()
        return self._client

    def close(self) -> None:
        """Drop the database, and stop the server if this has started it."""
        self._opened.close()

    def round(self, random: Random, world: World) -> Round:
        """Compare some tables."""
        result = Round()
        for _ in range(TABLES):
            self.client.execute("DROP TABLE IF EXISTS ours, theirs")
            # A second unique index is refused in an upsert, unless AUTO_INCREMENT fills it.
            table = random_table(random, TYPES, KEYS, MORE)
            for name in ("ours", "theirs"):
                self.client.execute(f"CREATE TABLE {name} ({table.definition(quoted)}) CHARACTER SET utf8mb4")
            self._insert(table)
            table.cuts = cut(random, table)
            self._compare(random, table, result)
            self._compare_new(random, result)
            self._compare_parts(random, result)
        return result

    def _compare_new(self, random: Random, result: Round) -> None:
        """Write to a table that is not there, and compare with one that has the types which are documented."""
        self.client.execute("DROP TABLE IF EXISTS ours, theirs")
        table, others = new_table(random, NEW, "longtext")
        self.client.execute(f"CREATE TABLE theirs ({table.definition(quoted)}) CHARACTER SET utf8mb4")
        if not all(self._insert(one) for one in (table, others) if one):
            return  # only the first row has a value in each column, and a row that is refused gives no column its type
        tasks = cut_of_both(random, table, others)
        try:
            write({"url": self._url, "dbtable": "ours", "mode": table.mode}, *tasks)
            ours = self._types("ours") + self._rows(table, "ours")
        except EtlError as error:
            ours = str(error)
        if ours != (wanted := self._types("theirs") + self._rows(table, "theirs")):
            result.differences.append(Difference(f"new table {table}, {others}", ours, wanted))

    def _types(self, name: str) -> str:
        self.client.execute(
            "SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS"
            " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = %s ORDER BY COLUMN_NAME",
            [name],
        )
        return str(self.client.fetchall())

    def _compare_parts(self, random: Random, result: Round) -> None:
        """Divide numbers, and compare the rows of all parts with all rows."""
        dialect, number = (
            dialect_of("mysql"),
            random.choice(["n", "-n", "n * 7", "FLOOR(n)", "CAST(n * 2 AS SIGNED) % 5"]),
        )
        count = random.randint(2, 5)
        is_whole = "CAST" in number or "FLOOR" in number
        bounds = range_of(random, "n")
        cuts = random.choice(
            [
                range_cuts("n", bounds.lower, bounds.upper, bounds.count),
                hash_cuts(number, count, dialect.remainder, whole=is_whole),
            ]
        )
        ours: list[Any] = []
        for one in cuts or [sql("1 = 1")]:
            self.client.execute(f"SELECT n FROM ({SHARED}) s WHERE {one.render(str)}")
            ours += self.client.fetchall()
        self.client.execute(SHARED)
        every = sorted(self.client.fetchall(), key=str)
        if sorted(ours, key=str) != every:
            result.differences.append(
                Difference(f"parts by {[one.render(str) for one in cuts]}", str(ours), str(every))
            )

    def _insert(self, table: Table) -> bool:
        """Insert the rows one by one; a row that the server refuses is left out. Return whether the first one is in."""
        taken = []
        names = [quoted(one.name) for one in table.columns]
        values = [f"CAST(%s AS {one.form.sent})" if one.form.sent else "%s" for one in table.columns]
        statement = f"INSERT INTO theirs ({', '.join(names)}) VALUES ({', '.join(values)})"
        if table.mode == "upsert":
            others = [quoted(one.name) for one in table.columns if not one.is_key]
            statement += f" ON DUPLICATE KEY UPDATE {', '.join(f'{one} = VALUES({one})' for one in others)}"
        for row in table.rows:
            given = [None if row[one.name] is None else one.form.plain(row[one.name]) for one in table.columns]
            is_taken = not any(isinstance(one, float) and not math.isfinite(one) for one in given)
            if is_taken:
                try:
                    self.client.execute(statement, given)
                except pymysql.MySQLError:
                    is_taken = False
            taken.append(is_taken)
        return not taken or taken[0]

    def _compare(self, random: Random, table: Table, result: Round) -> None:
        result.cases += 1
        wanted, ours = self._rows(table, "theirs"), ""
        options = {"url": self._url, "dbtable": "ours", "mode": table.mode}
        if table.mode == "upsert":
            options["upsertKeys"] = table.keys
        try:
            for tasks in table.cuts:
                write(options, *tasks)
            ours = self._rows(table, "ours")
            result.taken += 1
        except EtlError as error:
            ours = str(error)
        if ours != wanted:
            result.differences.append(Difference(str(table), ours, wanted))
        column = random.choice(table.columns)
        dialect = dialect_of("mysql")
        hashed = (dialect.hashed or "").format(quoted(column.name))
        cuts = hash_cuts(hashed, 3, dialect.remainder, whole=True)
        if column.declared.startswith("decimal") and random.random() < 0.7:
            cuts = hash_cuts(quoted(column.name), 3, dialect.remainder, whole=False)
        found = 0
        for one in cuts:
            self.client.execute(f"SELECT COUNT(*) FROM theirs WHERE {one.render(str)}")
            found += self.client.fetchall()[0][0]
        self.client.execute("SELECT COUNT(*) FROM theirs")
        if (found,) != (every := self.client.fetchall()[0]):
            result.differences.append(Difference(f"parts by {column}", str(found), str(every)))

    def _rows(self, table: Table, name: str) -> str:
        more = [one.split()[0] for one in table.more if not one.startswith("i1")]
        self.client.execute(f"SELECT {', '.join([*(quoted(one.name) for one in table.columns), *more])} FROM {name}")
        return str(sorted(self.client.fetchall(), key=str))
