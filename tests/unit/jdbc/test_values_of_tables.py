"""Which values a column takes, rounds or cuts, as decided without a database."""

from __future__ import annotations

import pyarrow as pa
import pytest

from gluepot.connectors.jdbc.java import stored as java
from gluepot.connectors.jdbc.java.dialects import has_fractions
from gluepot.connectors.jdbc.mysql import stored as mysql
from gluepot.connectors.jdbc.mysql.columns import TableColumn
from gluepot.connectors.jdbc.postgresql import stored as postgresql
from gluepot.connectors.jdbc.postgresql.target import TargetColumn
from gluepot.connectors.jdbc.postgresql.times import unheld, unstored
from gluepot.connectors.jdbc.redshift import types as redshift
from gluepot.connectors.jdbc.staging import merged_types, null_columns, written_columns
from gluepot.connectors.values import StagedFile
from gluepot.core.errors import ConfigError

INT = TargetColumn("n", "integer", "integer", sources=frozenset({"int2", "int4", "int8", "numeric", "float8"}))
FLAG = TargetColumn("b", "boolean", "boolean", sources=frozenset({"bool"}))
CODE = TargetColumn("c", "character varying(3)", "character varying", is_text=True)
CODES = TargetColumn("c", "character varying(3)[]", "character varying[]", is_list=True, sources=frozenset({"text"}))
DOCUMENT = TargetColumn("j", "jsonb", "jsonb", sources=frozenset({"json"}))


def staged(nulls: list[str], **types: str) -> StagedFile:
    return StagedFile("s", "t", 0, 1, 0, False, {"types": {**types, "gluepot_ordinal": "int8"}, "nulls": nulls})


@pytest.mark.parametrize(
    ("column", "kind", "takes"),
    [
        (INT, "int8", True), (INT, "numeric(10,2)", True), (INT, "text", True), (INT, "bool", False),
        (INT, "int4[]", False), (FLAG, "int4", False), (FLAG, "text", True), (CODE, "int4", True),
        (CODE, "text[]", True), (CODES, "text[]", True), (CODES, "text", True), (CODES, "int4[]", False),
        (CODES, "null[]", True), (INT, "null[]", False), (DOCUMENT, "int4[]", True), (DOCUMENT, "bool", False),
    ],
)  # fmt: skip
def test_postgresql_takes_what_it_assigns(column, kind, takes):
    assert column.takes(kind) is takes


def test_a_value_is_cast_without_the_length_of_its_column():
    assert CODE.value("f", "text", "t") == '"f"::character varying'
    assert CODES.value("f", "null[]", "t") == "translate(\"f\", '[]', '{}')::character varying[]"
    assert DOCUMENT.value("f", "int4[]", "t") == 'to_jsonb("f")::jsonb'
    with pytest.raises(ConfigError, match="Column b of t is of type boolean, and the frame's column f is of type int4"):
        FLAG.value("f", "int4", "t")


@pytest.mark.parametrize(
    ("column", "kind", "changes"),
    [
        (INT, "int8", False),
        (INT, "float8", True),
        (INT, "numeric(9,2)", True),
        (INT, "text", False),
        (CODE, "text", True),
    ],
)
def test_a_key_of_postgresql_is_compared_if_its_column_may_change_it(column, kind, changes):
    assert bool(column.changes("f", kind)) is changes


@pytest.mark.parametrize(
    ("declared", "kind", "sent", "changes"),
    [
        ("int(11)", "int", "BIGINT", False), ("int(11)", "int", "DOUBLE", True), ("varchar(3)", "varchar", "LONGTEXT", True),
        ("decimal(10,2)", "decimal", "DECIMAL(10,2)", True), ("decimal(10,2)", "decimal", "INT", False),
        ("datetime(3)", "datetime", "DATETIME(6)", True), ("date", "date", "DATETIME(6)", True),
        ("date", "date", "DATE", False), ("text", "text", "LONGTEXT", False),
    ],
)  # fmt: skip
def test_a_key_of_mysql_is_compared_if_its_column_may_change_it(declared, kind, sent, changes):
    assert bool(TableColumn("k", declared, kind).changes("k", sent)) is changes


@pytest.mark.parametrize(
    ("kind", "target", "may"),
    [
        ("numeric(10,2)", "numeric(10,1)", True), ("numeric(10,2)", "numeric(10,2)", False), ("integer", "bigint", False),
        ("double precision", "integer", True), ("timestamp", "date", True), ("real", "double precision", False),
        ("timestamp", "timestamp without time zone", False), ("numeric(10,2)", "character varying(9)", False),
    ],
)  # fmt: skip
def test_a_key_of_redshift_is_compared_if_a_cast_may_round_it(kind, target, may):
    assert redshift.rounds(kind, target) is may


def test_a_key_behind_a_java_driver_is_compared_if_it_may_have_fractions():
    assert [has_fractions(one) for one in ("decimal(9,2)", "decimal(9,0)", "double", "timestamp", "int", "text")] == [
        *(True, False, True, True, False, False)
    ]


def test_columns_of_nulls_are_written_if_the_table_has_them_and_does_not_fill_them():
    table = dict.fromkeys(("id", "Closed", "n"))
    found = written_columns([staged(["closed", "n", "more"], id="int4")], "text", table, "t", ["n"])
    assert found == {"id": "id", "closed": "Closed"}
    parts = [staged(["closed"], id="int4"), staged([], id="int4", closed="text")]
    assert null_columns(parts) == set()
    assert written_columns(parts, "text", table, "t") == {"id": "id", "closed": "Closed"}
    with pytest.raises(ConfigError, match="No row for t has a value for a column of the table"):
        written_columns([staged(["more"])], "text", table, "t")


def test_lists_without_a_value_take_the_type_of_other_lists():
    assert merged_types([staged([], c="null[]"), staged([], c="int4[]")], "text") == {"c": "int4[]"}
    assert merged_types([staged([], c="int4[]"), staged([], c="null[]")], "text") == {"c": "int4[]"}
    assert merged_types([staged([], c="null[]"), staged([], c="int4")], "text") == {"c": "text"}


@pytest.mark.parametrize("value", [[], [None], [None, None]])
def test_a_list_without_a_value_is_staged_as_in_a_batch_with_values(value):
    text = str(value).replace("None", "null").replace(" ", "")
    alone = pa.record_batch({"id": [1], "c": pa.array([value], pa.list_(pa.null()))})
    for rows, types in (postgresql.stored(alone, "t"), mysql.stored(alone), java.stored(alone)):
        assert rows.column("c").to_pylist() == [text]
        assert list(types) == ["id", "c"]
    assert redshift.stored(alone).rows.column("c").to_pylist() == [text]


@pytest.mark.parametrize(
    ("days", "shown"),
    [(-(2**31) + 10_956, "'infinity'"), (-(2**31) + 10_957, "'-infinity'"), (0, None), (-2_440_588, None)],
)
def test_a_date_that_the_driver_could_not_hold_is_recognized(days, shown):
    dates = pa.array([None, days], pa.int32()).view(pa.date32())
    assert unheld(dates) == shown
    assert unheld(pa.ListArray.from_arrays([0, 0, 2], dates)) == shown


def test_a_timestamp_that_the_driver_could_not_hold_is_recognized():
    def of(value: int) -> str | None:
        return unheld(pa.array([0, value], pa.timestamp("us")))

    assert of(946_684_799_999_999 - 2**63) == "'infinity'"
    assert of(946_684_800_000_000 - 2**63) == "'-infinity'"
    assert of(-(2**63)) == "a year after 294246"
    assert of(2**63 - 1) is None
    assert of(-210_866_803_200_000_000) is None


def test_a_time_that_postgresql_cannot_store_is_recognized():
    assert unstored(pa.array([-(2**63)], pa.timestamp("us"))) == f"{-(2**63)} microseconds from 1970-01-01"
    assert unstored(pa.array([2**31 - 1], pa.int32()).view(pa.date32())) == f"{2**31 - 1} days from 1970-01-01"
    assert unstored(pa.array([None], pa.date32())) is None
