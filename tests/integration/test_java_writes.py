"""Writes through a Java driver that the script brings, against a server of H2: modes, types, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest

from awsglue.dynamicframe import DynamicFrame
from gluepot.connectors.jdbc.databases import table_database
from gluepot.connectors.jdbc.settings import HashPartitions, JdbcReadSettings
from gluepot.connectors.jdbc.spark import SparkRelation
from gluepot.connectors.jdbc.target import JdbcWriteSettings
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, Manifest, SourceRange
from gluepot.core.errors import ConfigError, NotSupported, PermanentError, TransientError
from gluepot.engine import jdbc_output
from gluepot.frames.chunk import Chunk
from tests.h2 import H2Database


@dataclass
class Database:
    """A database of H2 with a folder for staged rows."""

    glue_context: Any
    made: H2Database
    folder: str

    def sql(self, *statements: str) -> list[tuple[str | None, ...]]:
        return self.made.sql(*statements)

    def options(self, **more: Any) -> dict[str, Any]:
        return {**self.made.options, "dbtable": "copies", "redshiftTmpDir": self.folder, **more}

    def write(self, selected: str, kind: str = "jdbc", **options: Any) -> None:
        source = selected if selected.startswith("(SELECT") else f"VALUES {selected}"
        frame = self.glue_context.spark_session.sql(f"SELECT * FROM {source}")
        given = {name: value for name, value in self.options(**options).items() if value is not None}
        self.glue_context.write_dynamic_frame.from_options(
            DynamicFrame.fromDF(frame, self.glue_context, "frame"), kind, given, transformation_ctx="sink0"
        )

    def rows(self) -> list[tuple[str | None, ...]]:
        return self.sql("SELECT * FROM copies ORDER BY 1")


@pytest.fixture
def database(glue_context, h2, tmp_path) -> Database:
    return Database(glue_context, h2.new_database(), str(tmp_path / "temp"))


def test_rows_are_appended_replaced_by_key_and_overwritten_and_read_back(database):
    database.write("(1, 'a'), (2, 'b') AS t(id, name)")
    database.write("(2, 'c'), (3, 'd'), (3, 'e') AS t(id, name)", upsertKeys=["id"])
    assert database.rows() == [("1", "a"), ("2", "c"), ("3", "e")]
    read = database.glue_context.create_dynamic_frame.from_options("jdbc", database.options())
    assert sorted(tuple(row) for row in read.toDF().collect()) == [(1, "a"), (2, "c"), (3, "e")]
    database.write("(9, 'z') AS t(id, name)", mode="overwrite", preactions='DELETE FROM copies WHERE "id" = 1')
    assert database.rows() == [("9", "z")]


def test_every_type_arrives_as_it_was_and_a_table_of_other_types_takes_the_rows(database):
    rows = (
        "(1, 2L, true, 1.5F, 2.5D, 'ä', X'00FF', DATE'2026-01-31', TIMESTAMP'2026-01-31 10:00:00.123456', 1.50BD,"
        " array(1, 2), null) AS t(i, l, b, f, d, s, x, day, at, m, doc, nothing)"
    )
    wanted = "1|2|TRUE|1.5|2.5|ä|2026-01-31|2026-01-31 10:00:00.123456|1.50|[1,2]"
    read = 'SELECT CONCAT_WS(\'|\', "i", "l", "b", "f", "d", "s", "day", "at", "m", "doc") FROM'
    database.write(rows)
    assert database.sql(f"{read} copies") == [(wanted,)]
    database.sql(
        'CREATE TABLE others ("s" CHAR VARYING(9), "i" BIGINT, "l" DECIMAL(9), "b" BOOLEAN, "f" DOUBLE PRECISION,'
        ' "d" DECIMAL(9, 1), "x" BLOB, "day" DATE, "at" TIMESTAMP(6), "m" DECIMAL(9, 2), "doc" CLOB, more INT)'
    )
    database.write(rows, dbtable="others")
    assert database.sql(f"{read} others") == [(wanted,)]


@pytest.mark.parametrize(
    ("table", "rows", "options", "said"),
    [
        ("id INT, name VARCHAR(3)", "(1, 'long') AS t(id, name)", {}, "were refused, and none is written: .*too long"),
        ("id INT, name VARCHAR(9) NOT NULL", "(1, null), (2, 'b') AS t(id, name)", {}, "NULL not allowed"),
        ("id INT PRIMARY KEY", "(1), (1) AS t(id)", {}, "primary key violation"),
        ("id INT", "(1, 'a') AS t(id, name)", {}, "has no column 'name'; it has ID"),
        ("id INT, n INT GENERATED ALWAYS AS (id + 1)", "(1, 2) AS t(id, n)", {}, "computes its column 'N' itself"),
        ("id INT", "(1) AS t(id)", {"mode": "upsert"}, "the table has no primary key; name the columns"),
        ("id INT, n INT", "(null, 1), (1, 2) AS t(id, n)", {"upsertKeys": "id"}, "1 rows for .* have a null in"),
        ("id INT", "(1) AS t(id)", {"preactions": "TRUNCATE TABLE copies"}, "may commit a part of the write"),
        ("id INT", "(1) AS t(id)", {"bulkSize": "many"}, "use an integer of 1 or more"),
        ("id INT", "(1) AS t(id)", {"dbtable": "no_schema.copies"}, "no_schema.* not found|NO_SCHEMA"),
        ("id INT", "(1) AS t(id)", {"dbtable": "a b"}, "is not the name of a table"),
        ("id INT", "(1) AS t(id)", {"customJdbcDriverS3Path": "/no/such.jar"}, "There is no file '/no/such.jar'"),
        ("id INT", "(1) AS t(id)", {"customJdbcDriverClassName": "no.Such"}, "the class no.Such is in no archive"),
        ("id INT", "(1) AS t(id)", {"url": "jdbc:oracle:thin:@//h/d"}, "There is no Java driver for jdbc:oracle"),
        ("id INT", "(1) AS t(id)", {"url": "jdbc:nothing:x"}, "a driver of nothing is in no archive"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_sentence_and_nothing_is_written(database, table, rows, options, said):
    database.sql(f"CREATE TABLE copies ({table})")
    with pytest.raises(ConfigError, match=said) as refused:
        database.write(rows, **options)
    assert "\n" not in str(refused.value)
    assert "Exception" not in str(refused.value)
    assert database.rows() == []


def test_a_table_that_no_driver_of_ours_is_needed_for_and_a_server_that_is_away(database):
    with pytest.raises(NotSupported, match="leave customJdbcDriverS3Path out"):
        database.write("(1) AS t(id)", "postgresql", url="jdbc:postgresql://127.0.0.1:1/d")
    with pytest.raises(TransientError, match=r"A connection at jdbc:h2:tcp://127\.0\.0\.1:1/mem:x did not work"):
        database.write("(1) AS t(id)", url="jdbc:h2:tcp://127.0.0.1:1/mem:x")


def published(database: Database, numbers: Sequence[int], token: int, batch: int = 7) -> Committed | AlreadyCommitted:
    """Stage and publish numbers as a driver with a token does."""
    settings = JdbcWriteSettings.from_glue(database.options())
    tables, key = table_database(settings), CommitKey("query-1", batch, "sink0", "place")
    name = tables.find()
    rows = pa.record_batch({"n": pa.array(numbers, pa.int64())})
    part = tables.sink(key, name).write(iter([Chunk(rows, [])]), 0, f"{token}/0")
    given = replace(part, files=(), ranges=[SourceRange("kafka", "t", "id", "0", 0, len(numbers))])
    with tables.publication(key, name) as begun:
        return jdbc_output._publish(begun, Manifest(key, [given], token=token), list(part.files))[0]


def test_rows_that_others_have_changed_or_written_again_are_not_taken_back(database):
    database.sql("CREATE TABLE copies (n BIGINT)")
    published(database, [1, 1, 2], 1)
    for change, back in (
        ("INSERT INTO copies VALUES (2)", "DELETE FROM copies WHERE n = 2; INSERT INTO copies VALUES (2)"),
        ("UPDATE copies SET n = 5 WHERE n = 2", "UPDATE copies SET n = 2 WHERE n = 5"),
    ):
        database.sql(change)
        before = database.rows()
        with pytest.raises(
            PermanentError, match=r"put 3 rows into .*so it cannot be replaced; remove its rows by hand"
        ):
            published(database, [1, 1, 2, 3], 2)
        assert database.rows() == before
        database.sql(*back.split("; "))
    published(database, [1, 1, 2, 3], 3)
    assert database.rows() == [("1",), ("1",), ("2",), ("3",)]
    published(database, [4], 3, batch=8)
    with pytest.raises(PermanentError, match="a later batch ended their record"):
        published(database, [1], 3)
    assert len(database.rows()) == 5


def test_a_view_is_refused_and_a_quoted_name_keeps_its_letters(database):
    database.sql("CREATE TABLE base (id INT)", "CREATE VIEW copies AS SELECT * FROM base")
    with pytest.raises(ConfigError, match="COPIES is a view; write to the table behind it"):
        database.write("(1) AS t(id)")
    database.write("(1) AS t(id)", dbtable='"My ""Orders"""')
    assert database.sql('SELECT "id" FROM "My ""Orders"""') == [("1",)]


@pytest.mark.parametrize("cuts", [["(1, null, null), (2, 'b', 'y')"], ["(1, null, null)", "(2, 'b', 'y')"]])
@pytest.mark.parametrize("mode", ["append", "upsert"])
def test_a_null_is_written_whatever_the_other_rows_are(database, cuts, mode):
    database.sql(
        "CREATE TABLE copies (id INT PRIMARY KEY, closed VARCHAR(9), state VARCHAR(9) DEFAULT 'open',"
        " n INT GENERATED ALWAYS AS IDENTITY, m INT AS (id + 1))"
    )
    if mode == "upsert":
        database.sql("INSERT INTO copies (id, closed, state) VALUES (1, 'a', 'x'), (2, 'a', 'x')")
    for rows in cuts:
        selected = f"(SELECT *, null AS n, null AS m, null AS more FROM VALUES {rows} AS t(id, closed, state))"
        database.write(selected, mode=mode, upsertKeys=["id"] if mode == "upsert" else None)
    assert database.sql("SELECT * FROM copies ORDER BY id") == [
        ("1", None, None, "1", "2"),
        ("2", "b", "y", "2", "3"),
    ]


VALUES = {
    "DECIMAL(10, 2)": "1.25, -0.75, 0, -2, 99999.99",
    "DOUBLE PRECISION": "1.5, -0.1, 1e300, CAST('NaN' AS DOUBLE PRECISION), CAST('Infinity' AS DOUBLE PRECISION)",
    "BIGINT": "0, -1, 9223372036854775807, -9223372036854775808",
    "VARCHAR(9)": "'a', 'b', 'NaN', '1.5'",
    "DATE": "DATE '2024-01-01', DATE '0044-03-15'",
    "TIMESTAMP(6)": "TIMESTAMP '2024-01-01 00:00:00.5'",
    "BOOLEAN": "TRUE, FALSE",
}


@pytest.mark.parametrize("option", ["hashexpression", "hashfield"])
def test_the_parts_of_a_read_hold_every_row_once(database, option):
    columns = ", ".join(f"c{nth} {declared}" for nth, declared in enumerate(VALUES))
    database.sql(f"CREATE TABLE copies (id INT AUTO_INCREMENT, {columns})")
    for nth, values in enumerate(VALUES.values()):
        database.sql(f"INSERT INTO copies (c{nth}) VALUES {', '.join(f'({value})' for value in values.split(', '))}")
    relation = SparkRelation.open(
        database.glue_context.spark_session, JdbcReadSettings.from_glue({**database.options(), option: "C0"})
    )
    every = database.sql("SELECT id FROM copies ORDER BY id")
    for name in (f"C{nth}" for nth in range(len(VALUES))):
        by = HashPartitions(name, None, 3) if option == "hashfield" else HashPartitions(None, name, 3)
        cuts = [cut.render(str) for cut in relation.cuts(by)]
        found = [row for cut in cuts for row in database.sql(f"SELECT id FROM copies WHERE {cut}")]
        assert sorted(found, key=lambda row: int(str(row[0]))) == every, name
