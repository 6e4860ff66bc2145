"""PostgreSQL: tables written in random cuts beside rows inserted one by one by its own client, and reads beside SQL."""

from __future__ import annotations

import atexit
import math
import re
from contextlib import ExitStack
from random import Random
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.postgresql import JdbcSplit, PostgresqlSource, open_relation
from gluepot.connectors.jdbc.relation import Query
from gluepot.connectors.jdbc.relation import Table as Named
from gluepot.connectors.jdbc.settings import HashPartitions
from gluepot.connectors.jdbc.sql import Sql
from gluepot.core.errors import ConfigError, EtlError
from tests.database_writes import write
from tests.differential.database_tables import (
    DOCUMENT,
    US,
    UTC_US,
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
    zoned,
)
from tests.differential.kind import Difference, Round, World
from tests.postgresql import new_database, postgresql_endpoint

TABLES = 8
# What an upsert refuses because two keys could become one, or a row would come again.
DECLINED = re.compile("is a key of the upsert|have a null in")


WORD = Form(pa.string(), "", word(3))
INT, LONG = Form(pa.int32(), "int4", whole(32)), Form(pa.int64(), "int8", whole(64))
TINY = Form(pa.int8(), "int2", whole(8))
SHORT = Form(pa.int16(), "int2", whole(16))
DOUBLE, SMALL = Form(pa.float64(), "float8", number), Form(pa.float64(), "float8", small)
REAL = Form(pa.float32(), "float4", one_of(0.5, -1.25, 2.0**100, float("inf"), 0.0))
MONEY = Form(pa.decimal128(10, 2), "numeric(10,2)", amount(10, 2))
FINE = Form(pa.decimal128(20, 6), "numeric(20,6)", amount(9, 6))
BOOL = Form(pa.bool_(), "bool", one_of(True, False))
BYTES = Form(pa.binary(), "bytea", lambda random: random.randbytes(random.randrange(5)))
DAY, MOMENT = Form(pa.date32(), "date", day), Form(US, "timestamp", moment)
ZONED = Form(UTC_US, "timestamptz", zoned)
# Days around the ends of PostgreSQL's dates; 4714-11-24 BC is the first and 5874897-12-31 the last.
FAR_DAYS = {
    2_145_042_905: "5874897-12-31",
    2_145_042_906: "5874898-01-01",
    -2_440_588: "4714-11-24 BC",
    -2_440_589: "4714-11-23 BC",
    2_932_897: "10000-01-01",
}
FAR_DAY = Form(pa.date32(), "", one_of(*FAR_DAYS), FAR_DAYS.__getitem__)
FAR_DAYS_LIST = Form(
    pa.list_(pa.date32()), "date[]", of_list(one_of(*FAR_DAYS)), lambda days: [one and FAR_DAYS[one] for one in days]
)
NUMBERS = texts("1", "-2", "30", "1e3", wrong="x")
ENDLESS = texts("infinity", "-infinity", "2024-02-29")
STRUCT = Form(DOCUMENT, "", document, json_text)
TYPES: dict[str, list[Form]] = {
    "smallint": [SHORT, TINY, SMALL, NUMBERS],
    "integer": [INT, SHORT, LONG, SMALL, FINE, NUMBERS, BOOL],
    "bigint": [LONG, INT, SMALL, MONEY, NUMBERS, DAY],
    "numeric(10,2)": [MONEY, INT, FINE, SMALL, NUMBERS],
    "numeric": [FINE, LONG, MONEY, DOUBLE, NUMBERS],
    "numeric(38,18)": [MONEY, FINE, INT, NUMBERS],
    "real": [REAL, SMALL, INT, MONEY, NUMBERS],
    "double precision": [DOUBLE, REAL, LONG, FINE, NUMBERS],
    "boolean": [BOOL, INT, texts("t", "no", "1", wrong="x")],
    "varchar(3)": [WORD, INT, BOOL, DAY],
    "char(3)": [WORD, SHORT],
    "text": [Form(pa.string(), "", word(9)), LONG, MONEY, DOUBLE, BOOL, MOMENT, ZONED, STRUCT],
    "bit(3)": [texts("101", "000", wrong="1"), INT],
    "bit varying(3)": [texts("101", "", "1", wrong="1010")],
    "bytea": [BYTES, LONG],
    "date": [
        DAY,
        FAR_DAY,
        ENDLESS,
        MOMENT,
        ZONED,
        texts("2024-02-29", "infinity", "0044-03-15 BC", wrong="2023-02-29"),
    ],
    "timestamp": [MOMENT, DAY, ENDLESS, ZONED, texts("2024-02-29 10:00:00.1234567", "-infinity", wrong="x")],
    "timestamp(3)": [MOMENT, ZONED, DAY, ENDLESS],
    "timestamptz": [ZONED, MOMENT, DAY, ENDLESS, texts("2024-02-29T10:00:00+02", "infinity")],
    "time(3)": [texts("10:00:00.1234", "24:00", wrong="25:00")],
    "interval day to second(2)": [texts("1 day 02:03:04.567", "P1DT2H", wrong="x")],
    "uuid": [texts("6e8bc430-9c3a-11d9-9669-0800200c9a66", "00000000-0000-0000-0000-000000000001"), INT],
    "json": [STRUCT, texts('{"a" : [1, null]}', "[]", wrong="{")],
    "jsonb": [
        STRUCT,
        Form(pa.list_(pa.int64()), "", of_list(whole(64)), json_text),
        texts('{"a" : [1, null]}', "[]", wrong="{"),
    ],
    "inet": [texts("10.0.0.1", "::1/64", wrong="x")],
    "xml": [texts("<a>1</a>", wrong="<a>")],
    "mood": [texts("happy", "sad", wrong="other")],
    "short": [WORD, INT],
    "int4range": [texts("[1,5)", "empty", wrong="[5,1)")],
    "point": [texts("(1,2)", wrong="x")],
    "tsvector": [texts("'a':1 'b':2")],
    "integer[]": [
        Form(pa.list_(pa.int32()), "int4[]", of_list(whole(32))),
        Form(pa.list_(pa.int64()), "int8[]", of_list(whole(64))),
        texts("{{1,2},{3,4}}", "{}", "[0:1]={1,2}", wrong="x"),
    ],
    "text[]": [Form(pa.list_(pa.string()), "text[]", of_list(word(5)))],
    "varchar(3)[]": [Form(pa.list_(pa.string()), "text[]", of_list(word(3)))],
    "short[]": [Form(pa.list_(pa.string()), "text[]", of_list(word(3)))],
    "double precision[]": [Form(pa.list_(pa.float64()), "float8[]", of_list(number))],
    "date[]": [
        Form(pa.list_(pa.date32()), "date[]", of_list(day)),
        FAR_DAYS_LIST,
        texts("{infinity}", "{2024-01-01,NULL}"),
    ],
    "boolean[]": [Form(pa.list_(pa.bool_()), "bool[]", of_list(one_of(True, False)))],
}
KEYS = (
    "integer",
    "bigint",
    "varchar(3)",
    "text",
    "date",
    "uuid",
    "numeric(10,2)",
    "timestamp(3)",
    "char(3)",
    "real",
    "double precision",
    "smallint",
    "timestamptz",
)
# The type that a new column gets for values of each form.
NEW = {
    SHORT: "smallint",
    TINY: "smallint",
    INT: "integer",
    LONG: "bigint",
    REAL: "real",
    DOUBLE: "double precision",
    MONEY: "numeric(10,2)",
    FINE: "numeric(20,6)",
    BOOL: "boolean",
    BYTES: "bytea",
    DAY: "date",
    MOMENT: "timestamp",
    ZONED: "timestamptz",
    STRUCT: "jsonb",
    Form(pa.string(), "", long_word): "text",
}
# Rows that are divided by ranges and by expressions: on bounds, beyond them, between integers, and none.
SHARED = "SELECT n::numeric / 2 AS n FROM generate_series(-20, 20) n UNION ALL SELECT NULL"
MORE = (
    "d1 text DEFAULT 'open'",
    "d2 int NOT NULL DEFAULT 7",
    "g1 int GENERATED ALWAYS AS (1 + 1) STORED",
    "i1 int GENERATED BY DEFAULT AS IDENTITY",
)
FAMILIES = {
    "bpchar": "CASE WHEN c IS NOT NULL THEN concat(c) END",
    "int2": "c::text", "int4": "c::text", "int8": "c::text", "float4": "c::text", "float8": "c::text", "bool": "c::text",
    "numeric": "c::text", "bytea": "encode(c, 'hex')", "date": "CASE WHEN isfinite(c) THEN (c - date '1970-01-01')::text END",
    "timestamp": "CASE WHEN isfinite(c) THEN (extract(epoch from c) * 1000000)::numeric(30)::text END",
    "timestamptz": "CASE WHEN isfinite(c) THEN (extract(epoch from c) * 1000000)::numeric(30)::text END",
}  # fmt: skip
SETTINGS = "-c TimeZone=UTC -c DateStyle=ISO,YMD -c IntervalStyle=iso_8601 -c extra_float_digits=1"


class Kind:
    """See `tests.differential.kind.Kind`."""

    name = "databases_postgresql"
    unit = "tables"

    def __init__(self, server: str = "") -> None:
        self.server = server
        self._opened = ExitStack()
        self._client: psycopg.Connection[Any] | None = None
        self._url = ""

    @property
    def client(self) -> psycopg.Connection[Any]:
        """A connection of PostgreSQL's own client to an empty database."""
        if self._client is None:
            atexit.register(self.close)
            server = self.server or self._opened.enter_context(postgresql_endpoint())
            self._url = self._opened.enter_context(new_database(server))
            self._client = psycopg.connect(self._url, autocommit=True, options=SETTINGS)
            self._opened.callback(self._client.close)
            self._client.execute("CREATE TYPE mood AS ENUM ('happy', 'sad'); CREATE DOMAIN short AS varchar(3)")
        return self._client

    def close(self) -> None:
        """Drop the database, and stop the server if this has started it."""
        self._opened.close()

    def round(self, random: Random, world: World) -> Round:
        """Compare some tables."""
        result = Round()
        for _ in range(TABLES):
            self.client.execute("DROP TABLE IF EXISTS ours, theirs")
            table = random_table(random, TYPES, KEYS, MORE, has_loose_keys=True)
            for name in ("ours", "theirs"):
                self.client.execute(f"CREATE TABLE {name} ({table.definition(_quoted)})")
            self._compare_writes(random, table, result)
            self._compare_reads(random, result)
            self._compare_new(random, result)
            self._compare_parts(random, result)
            result.cases += 1
        return result

    def _compare_new(self, random: Random, result: Round) -> None:
        """Write to a table that is not there, and compare with one that has the types which are documented."""
        self.client.execute("DROP TABLE IF EXISTS ours, theirs")
        table, others = new_table(random, NEW, "text")
        self.client.execute(f"CREATE TABLE theirs ({table.definition(_quoted)})")
        for one in (table, others) if others else (table,):
            self._inserted(one)
        tasks = cut_of_both(random, table, others)
        try:
            write({**self._options, "dbtable": "ours", "mode": table.mode}, *tasks)
            ours = (self._types("ours"), self._rows(table, "ours"))
        except EtlError as error:
            ours = ([], [(str(error),)])
        if ours != (wanted := (self._types("theirs"), self._rows(table, "theirs"))):
            result.differences.append(Difference(f"new table {table}, {others}", str(ours), str(wanted)))

    def _types(self, name: str) -> list[tuple[Any, ...]]:
        return self.client.execute(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
            " WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attname",
            [name],
        ).fetchall()

    def _compare_parts(self, random: Random, result: Round) -> None:
        """Divide numbers, and compare the rows of all parts with all rows."""
        shares = ["n", "-n", "n * 7", "floor(n)::int", "n::float8", "(n * 2)::int % 5"]
        option = random.choice(
            [range_of(random, "n"), HashPartitions(None, random.choice(shares), random.randint(2, 5))]
        )
        with open_relation(JdbcEndpoint.from_options(self._options), Query(SHARED)) as relation:
            cuts = [one.render(lambda _, bound: bound.text) for one in relation.cuts(option)] or ["true"]
        each = " UNION ALL ".join(f"SELECT n FROM ({SHARED}) s WHERE {one}" for one in cuts)
        ours, every = (self.client.execute(f"SELECT n FROM ({one}) r ORDER BY n").fetchall() for one in (each, SHARED))
        if ours != every:
            result.differences.append(Difference(f"parts by {option}", str(ours), str(every)))

    @property
    def _options(self) -> dict[str, Any]:
        return {"url": self._url.replace("postgresql://postgres@", "jdbc:postgresql://"), "user": "postgres"}

    def _compare_writes(self, random: Random, table: Table, result: Round) -> None:
        wanted = self._inserted(table)
        if table.mode == "upsert" and not isinstance(wanted, str) and self._has_unclear_key(table):
            wanted = "refused: a key is null, or its column changes it"
        is_refused = isinstance(wanted, str)
        table.cuts = cut(random, table, most_writes=1 if is_refused else 3)
        options = {**self._options, "dbtable": "ours", "mode": table.mode}
        if table.mode == "upsert":
            options["upsertKeys"] = table.keys
        ours: Any
        try:
            for tasks in table.cuts:
                write(options, *tasks)
            ours = self._rows(table, "ours")
            result.taken += 1
        except EtlError as error:
            ours = str(error)
        if isinstance(ours, str) and DECLINED.search(ours):
            return
        differs = isinstance(ours, str) != is_refused if is_refused or isinstance(ours, str) else ours != wanted
        if not differs and isinstance(ours, str):
            rows = self.client.execute("SELECT count(*) FROM ours").fetchall()
            differs = rows != [(0,)] or (
                "public.ours" not in ours and 'relation "ours"' not in ours and "unique" not in ours
            )
        if differs:
            result.differences.append(Difference(str(table), str(ours), str(wanted)))

    def _has_unclear_key(self, table: Table) -> bool:
        """Return whether a row has a null in its key, or a value that the column of the key rounds or cuts."""
        keys = [one for one in table.columns if one.is_key and one.form.sent]
        for row in table.rows if not table.has_null_key else ():
            for one in keys:
                sent = f"%s::{one.form.sent}"
                try:
                    changed = self.client.execute(
                        f"SELECT {sent}::{one.declared}::{one.form.sent} IS DISTINCT FROM {sent}",
                        [one.form.plain(row[one.name])] * 2,
                    ).fetchone()
                except psycopg.errors.NumericValueOutOfRange:
                    return True  # such as 2147483647, which a real rounds to a number beyond integers
                if changed == (True,):
                    return True
        return table.has_null_key

    def _inserted(self, table: Table) -> Any:
        """Insert the rows one by one with PostgreSQL's client; return all rows, or what the server says against one."""
        names = [_quoted(one.name) for one in table.columns]
        values = ", ".join(f"%s::{one.form.sent}" if one.form.sent else "%s" for one in table.columns)
        statement = f"INSERT INTO theirs ({', '.join(names)}) VALUES ({values})".replace("%s", "%s")
        if table.mode == "upsert":
            keys = ", ".join(map(_quoted, table.keys))
            others = [_quoted(one.name) for one in table.columns if not one.is_key]
            sets = ", ".join(f"{one} = excluded.{one}" for one in others)
            statement += f" ON CONFLICT ({keys}) DO UPDATE SET {sets}"
        try:
            with self.client.transaction():
                for row in table.rows:
                    given = [None if row[one.name] is None else one.form.plain(row[one.name]) for one in table.columns]
                    self.client.execute(statement, given)
        except psycopg.Error as error:
            return f"{type(error).__name__}: {error}"
        return self._rows(table, "theirs")

    def _rows(self, table: Table, name: str) -> list[tuple[Any, ...]]:
        more = [one.split()[0] for one in table.more if not one.startswith("i1")]
        listed = ", ".join(f"{one}::text" for one in [*(_quoted(column.name) for column in table.columns), *more])
        return sorted(self.client.execute(f"SELECT {listed} FROM {name}").fetchall(), key=str)

    def _compare_reads(self, random: Random, result: Round) -> None:
        """Read each column of a table that PostgreSQL's client has written, and compare with what SQL says of it."""
        described = self.client.execute(
            "SELECT attname, t.typname, attndims FROM pg_attribute JOIN pg_type t ON t.oid = atttypid"
            " WHERE attrelid = 'theirs'::regclass AND attnum > 0 ORDER BY attnum"
        ).fetchall()
        together = self._read(*(name for name, _, _ in described))
        for nth, (name, kind, _) in enumerate(described):
            # Each alone only if a column is refused: to connect takes longer than all else.
            ours = self._read(name) if isinstance(together, str) else [together[nth]]
            ours = ours if isinstance(ours, str) else ours[0]
            wanted = self._told(name, kind)
            if isinstance(wanted, str) != isinstance(ours, str) or (not isinstance(wanted, str) and ours != wanted):
                result.differences.append(Difference(f"read of {name} {kind}", str(ours), str(wanted)))
        name = random.choice(described)[0]
        option = random.choice([HashPartitions(name, None, 3), HashPartitions(None, _quoted(name), 3)])
        with open_relation(JdbcEndpoint.from_options(self._options), Named("theirs")) as relation:
            cuts = [one.render(lambda _, bound: bound.text) for one in relation.cuts(option)]
        found = sorted(
            row for one in cuts for (row,) in self.client.execute(f"SELECT ctid::text FROM theirs WHERE {one}")
        )
        every = sorted(row for (row,) in self.client.execute("SELECT ctid::text FROM theirs"))
        if found != every:
            result.differences.append(Difference(f"parts by {option}", str(found), str(every)))

    def _told(self, name: str, kind: str) -> Any:
        """The values of a column as text; a text if a frame cannot hold one."""
        column = _quoted(name)
        base = kind.removeprefix("_")
        asked = FAMILIES.get(base, "c::text")
        infinite = {"date": "NOT isfinite(c)", "numeric": "coalesce(abs(round(c, 18)) >= 1e20, false)"}
        infinite |= dict.fromkeys(("timestamp", "timestamptz"), "NOT isfinite(c)")
        beyond = infinite.get(base, "false")
        if (
            kind.startswith("_")
            and base not in {"timestamp", "bpchar", "name", "numeric"}
            and base in {*FAMILIES, "text", "varchar"}
        ):
            each = f"(SELECT array_agg({asked} ORDER BY n) FROM unnest({column}) WITH ORDINALITY AS u(c, n))"
            beyond = f"coalesce(array_ndims({column}), 1) > 1 OR EXISTS (SELECT 1 FROM unnest({column}) AS u(c) WHERE {beyond})"
            asked = f"CASE WHEN {column} IS NOT NULL THEN coalesce({each}, '{{}}') END"
        else:
            fitting = f"(CASE WHEN abs(round({column}, 18)) < 1e20 THEN {column} END)::numeric(38,18)"
            digits = fitting if self._is_unbounded(name) else column
            asked, beyond = re.sub(r"\bc\b", digits, asked), re.sub(r"\bc\b", column, beyond)
        rows = self.client.execute(f"SELECT {asked}, {beyond} FROM theirs".replace("%", "%%")).fetchall()
        if any(bad for _, bad in rows):
            return "refused"
        return [_shortest(text, base) for text, _ in rows]

    def _is_unbounded(self, name: str) -> bool:
        found = self.client.execute(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'theirs'::regclass AND attname = %s",
            [name],
        ).fetchall()
        return found == [("numeric",)]

    def _read(self, *names: str) -> list[list[Any]] | str:
        """Return the values of columns, or what we say against one."""
        endpoint = JdbcEndpoint.from_options(self._options)
        try:
            with open_relation(endpoint, Query(f"SELECT {', '.join(map(_quoted, names))} FROM theirs")) as relation:
                source = PostgresqlSource(endpoint, relation.source, relation.columns)
            batches = [chunk.batch for chunk in source.read(JdbcSplit(Sql()))]
        except (EtlError, ConfigError) as error:
            return str(error)
        return [[_plain(one) for batch in batches for one in batch.column(nth)] for nth in range(len(names))]


def _shortest(text: Any, kind: str) -> Any:
    """A number that PostgreSQL writes with more digits than it needs, such as 9.999999999999999e+22, as we write it."""
    if isinstance(text, list):
        return [_shortest(one, kind) for one in text]
    is_number = kind in {"float4", "float8"} and text is not None
    return _number(float(text), is_single=kind == "float4") if is_number else text


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'


def _plain(scalar: pa.Scalar) -> Any:
    """A value as PostgreSQL writes it."""
    if not scalar.is_valid:
        return None
    if pa.types.is_list(scalar.type):
        return [_plain(one) for one in scalar.values]
    if pa.types.is_temporal(scalar.type):
        return str(scalar.value)
    value = scalar.as_py()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value, is_single=pa.types.is_float32(scalar.type))
    return (
        value.hex()
        if isinstance(value, bytes)
        else format(value, "f")
        if not isinstance(value, str | int)
        else str(value)
    )


def _number(value: float, *, is_single: bool) -> str:
    """A number as PostgreSQL writes it: with the fewest digits that make it."""
    if not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    shortest = np.float32(value) if is_single else np.float64(value)
    text = np.format_float_scientific(shortest, trim="-", exp_digits=2)
    exponent = int(text.partition("e")[2])
    if -5 < exponent < (6 if is_single else 15):
        plain: str = np.format_float_positional(shortest, trim="-")
        return plain
    return text
