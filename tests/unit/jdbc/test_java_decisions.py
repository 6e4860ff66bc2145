"""What a write through a Java driver decides without a database: names, types, statements, errors, forms of rows."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.jdbc.java.dialects import write_dialect
from gluepot.connectors.jdbc.java.errors import cause_of, translated
from gluepot.connectors.jdbc.java.statements import (
    NamePart,
    create_own,
    create_stage,
    create_table,
    delete_equal,
    insert,
    merge,
    name_parts,
    own_columns,
    record_id,
    require_one_machine,
    require_rows_only,
    write_id,
)
from gluepot.connectors.jdbc.java.stored import stored
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import ConfigError, PermanentError, TransientError

SQLSERVER = write_dialect("sqlserver", "jdbc:sqlserver://h;databaseName=d")
ORACLE = write_dialect("oracle", "jdbc:oracle:thin:@//h/x")
SNOWFLAKE = write_dialect("snowflake", "jdbc:snowflake://h")
OTHER = write_dialect("informix", "jdbc:informix-sqli://h")
KEY = CommitKey("query-1", 7, "sink0", "place")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("orders", (None, None, NamePart("orders", quoted=False))),
        ("sales.orders", (None, NamePart("sales", quoted=False), NamePart("orders", quoted=False))),
        ('"My ""Shop"""."a.b"', (None, NamePart('My "Shop"', quoted=True), NamePart("a.b", quoted=True))),
        (
            "[shop].dbo.[x]]y]",
            (NamePart("shop", quoted=True), NamePart("dbo", quoted=False), NamePart("x]y", quoted=True)),
        ),
    ],
)
def test_a_name_is_taken_apart_as_its_database_would(name, parts):
    assert name_parts(name) == parts


@pytest.mark.parametrize("name", ["", "a.", "a.b.c.d", '"a', "a b", "(SELECT 1)"])
def test_what_is_no_name_of_a_table_is_refused(name):
    with pytest.raises(ConfigError, match=r"write table or schema\.table"):
        name_parts(name)


@given(st.text(min_size=1, max_size=6), st.sampled_from([SQLSERVER, ORACLE]))
def test_a_name_that_we_quote_is_read_again_as_it_was(name, dialect):
    assert name_parts(dialect.quoted(name))[2] == NamePart(name, quoted=True)


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        (
            SQLSERVER,
            "CREATE TABLE t ([id] BIGINT NOT NULL, [name] NVARCHAR(MAX), [m] DECIMAL(10,2), PRIMARY KEY ([id]))",
        ),
        (
            ORACLE,
            'CREATE TABLE t ("id" NUMBER(19) NOT NULL, "name" VARCHAR2(4000), "m" NUMBER(10,2), PRIMARY KEY ("id"))',
        ),
        (SNOWFLAKE, 'CREATE TABLE t ("id" BIGINT NOT NULL, "name" VARCHAR, "m" DECIMAL(10,2), PRIMARY KEY ("id"))'),
    ],
)
def test_a_new_table_has_the_types_of_its_database(dialect, statement):
    kinds = {"id": "bigint", "name": "text", "m": "decimal(10,2)"}
    assert create_table(dialect, "t", kinds, ["ID"]) == statement


def test_a_text_in_a_key_gets_a_length_and_a_decimal_that_is_too_long_becomes_text():
    assert "[k] NVARCHAR(255) NOT NULL" in create_table(SQLSERVER, "t", {"k": "text"}, ["k"])
    db2 = write_dialect("db2", "jdbc:db2://h/d")
    assert create_table(db2, "t", {"m": "decimal(38,2)"}, ()) == 'CREATE TABLE t ("m" VARCHAR(4000))'


@pytest.mark.parametrize("dialect", [SQLSERVER, ORACLE, SNOWFLAKE, OTHER])
@pytest.mark.parametrize("table", ["gluepot_commits", "gluepot_rejects", "gluepot_locks"])
def test_our_own_tables_have_all_their_columns_everywhere(dialect, table):
    made = create_own(dialect, table, f"s.{table}", {name: dialect.quoted(name) for name in own_columns(table)})
    assert made.startswith(f"CREATE TABLE s.{table} (")
    assert all(f"{dialect.quoted(name)} " in made for name in own_columns(table))
    assert ("PRIMARY KEY" in made) == (table != "gluepot_rejects")


def test_a_staging_table_is_made_as_the_database_can():
    asked = "u.a, CAST(0 AS {}) AS n FROM t t LEFT JOIN t u ON 1 = 0 WHERE 1 = 0"
    of_oracle = f"CREATE TABLE s AS SELECT {asked.format('NUMBER(19)')}"
    of_sqlserver = f"SELECT {asked.format('BIGINT').replace(' FROM', ' INTO s FROM', 1)}"
    assert create_stage(ORACLE, "s", "t", ["a"], "n") == of_oracle
    assert create_stage(SQLSERVER, "s", "t", ["a"], "n") == of_sqlserver


def test_rows_arrive_in_their_order_and_an_upsert_takes_the_last_one_of_a_key():
    assert insert("t", "s", ["a", "b"], "n") == "INSERT INTO t (a, b) SELECT a, b FROM s ORDER BY n"
    merged = merge(SQLSERVER, "t", "s", ["a", "b"], ["a"], "n")
    assert "PARTITION BY a ORDER BY n DESC" in merged
    assert merged.endswith(
        "ON (t.a = s.a) WHEN MATCHED THEN UPDATE SET b = s.b WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, s.b);"
    )
    assert "UPDATE" not in merge(ORACLE, "t", "s", ["a"], ["a"], "n")


def test_rows_are_taken_back_by_all_columns_and_texts_by_their_bytes_where_letter_case_is_ignored():
    assert delete_equal(ORACLE, "t", "s", {"a": -5, "c": 2005}) == (
        "DELETE FROM t WHERE EXISTS (SELECT 1 FROM s s WHERE (t.a = s.a OR (t.a IS NULL AND s.a IS NULL))"
        " AND (DBMS_LOB.COMPARE(t.c, s.c) = 0 OR (t.c IS NULL AND s.c IS NULL)))"
    )
    assert "CAST(t.a AS VARBINARY(MAX)) = CAST(s.a AS VARBINARY(MAX))" in delete_equal(SQLSERVER, "t", "s", {"a": 12})


@pytest.mark.parametrize(
    "text",
    ["DROP TABLE t", "DELETE FROM t; COMMIT", "BEGIN x END", "EXEC p", "TRUNCATE TABLE t", "CREATE TABLE t (n INT)"],
)
def test_a_statement_that_may_commit_is_refused(text):
    with pytest.raises(ConfigError, match=r"postactions has '.*which may commit a part of the write"):
        require_rows_only(text, "postactions")


def test_statements_that_change_rows_run_in_the_transaction():
    assert require_rows_only("DELETE FROM t WHERE a = ';' ; -- x;\nWITH q AS (SELECT 1 a) SELECT a FROM q;", "preactions") == [
        "DELETE FROM t WHERE a = ';'",
        "WITH q AS (SELECT 1 a) SELECT a FROM q",
    ]  # fmt: skip


def test_a_cluster_needs_a_folder_that_all_machines_reach():
    require_one_machine("local[2]", "jdbc:oracle:x")
    for master in ("yarn", "spark://h:7077", "local-cluster[2,1,1024]"):
        with pytest.raises(ConfigError, match="A write to jdbc:oracle:x needs a folder that all machines reach"):
            require_one_machine(master, "jdbc:oracle:x")


def test_h2_gets_the_sql_of_the_database_that_it_plays():
    assert write_dialect("h2", "jdbc:h2:mem:x;MODE=MSSQLServer").quoted("a") == "[a]"
    assert write_dialect("h2", "jdbc:h2:mem:x;MODE=Oracle").type_of("bigint") == "NUMBER(19)"
    assert write_dialect("h2", "jdbc:h2:mem:x").type_of("bigint") == "BIGINT"
    assert OTHER.quoted("a") == '"a"'


@pytest.mark.parametrize(
    ("state", "passes", "kind"),
    [
        ("08001", False, TransientError),
        ("40001", False, TransientError),
        ("", False, TransientError),
        ("23505", True, TransientError),
        ("23505", False, ConfigError),
        ("22001", False, ConfigError),
        ("42S02", False, ConfigError),
        ("XX000", False, PermanentError),
    ],
)
def test_an_error_says_whether_another_try_may_help(state, passes, kind):
    error = translated(state, "no such\n row.; SQL statement:\nSELECT secret", "A statement at d", passes=passes)
    assert isinstance(error, kind)
    assert "A statement at d did not work: no such row" in str(error)
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (
            (
                "org.apache.spark.SparkException: Job aborted: Task 0 failed: java.lang.X\n\tat y\n"
                'Caused by: org.h2.jdbc.JdbcSQLDataException: Value too long for column "A"; SQL statement:\nINSERT'
            ),
            'Value too long for column "A"',
        ),
        ("An error occurred while calling o1.save.\n: java.lang.ClassNotFoundException: a.B\n\tat c", "a.B"),
        ("nothing known", "nothing known"),
    ],
)
def test_what_the_driver_said_is_found_in_the_trace_of_a_task(trace, said):
    assert cause_of(trace) == said


def test_records_of_two_batches_differ_and_belong_to_one_write():
    other = CommitKey("query-1", 8, "sink0", "place")
    assert record_id(KEY, "t") != record_id(other, "t")
    assert write_id(KEY, "t") == write_id(other, "t") != write_id(KEY, "u")
    assert len(record_id(KEY, "t")) == 64


def test_rows_take_a_form_that_every_driver_takes():
    rows, kinds = stored(
        pa.record_batch(
            {
                "u8": pa.array([255], pa.uint8()),
                "u64": pa.array([2**64 - 1], pa.uint64()),
                "at": pa.array([datetime(2026, 5, 1, 10, tzinfo=UTC)], pa.timestamp("ns", "Europe/Berlin")),
                "m": pa.array([Decimal("1.50")], pa.decimal128(10, 2)),
                "long": pa.array([Decimal("1.5")], pa.decimal256(60, 1)),
                "doc": pa.array([{"a": [1]}]),
                "nothing": pa.nulls(1),
            }
        )
    )
    assert kinds == {
        "u8": "smallint", "u64": "decimal(20,0)", "at": "timestamp", "m": "decimal(10,2)", "long": "text", "doc": "text",
    }  # fmt: skip
    assert rows.to_pylist() == [
        {
            "u8": 255,
            "u64": Decimal(2**64 - 1),
            "at": datetime(2026, 5, 1, 10),
            "m": Decimal("1.50"),
            "long": "1.5",
            "doc": '{"a":[1]}',
        }
    ]
