from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import gluepot.table
from gluepot.core.errors import ConfigError, PermanentError, TransientError
from tests.unit.tables.tables import Writer

FORMATS = ["glueparquet", "json", "csv"]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "table")


def rows(table: gluepot.table.Table) -> list[dict]:
    return table.to_arrow().to_pylist()


def seen_by_duckdb(table: gluepot.table.Table) -> list[dict]:
    with table.duckdb(name="t") as db:
        return db.sql("FROM t").to_arrow_table().to_pylist()


def test_a_table_is_the_sum_of_its_batches(folder):
    writer = Writer(folder)
    writer.publish(0, [{"a": 1}], [{"a": 2}])
    writer.publish(1, [{"a": 3}])
    table = gluepot.table.open(folder)
    assert rows(table) == seen_by_duckdb(table) == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert [(file.key.batch_id, file.rows) for file in table.files()] == [(0, 2), (1, 1)]


def test_a_table_is_as_it_was_when_it_was_opened(folder):
    writer = Writer(folder)
    writer.publish(0, [{"a": 1}])
    table = gluepot.table.open(folder)
    writer.publish(1, [{"a": 2}])
    assert rows(table) == seen_by_duckdb(table) == [{"a": 1}]


def test_files_that_no_manifest_names_are_not_in_the_table(folder):
    Writer(folder).publish(0, [{"a": 1}])
    (file,) = Path(folder).glob("*.parquet")
    (Path(folder) / "stray.parquet").write_bytes(file.read_bytes())
    table = gluepot.table.open(folder)
    assert rows(table) == seen_by_duckdb(table) == [{"a": 1}]


@pytest.mark.parametrize("name", FORMATS)
def test_reading_a_batch_that_was_published_anew_says_to_open_again(folder, name):
    writer = Writer(folder, name)
    writer.publish(0, [{"a": 1}])
    table = gluepot.table.open(folder)
    writer.publish(0, [{"a": 1}, {"a": 2}], start=0)
    with pytest.raises(TransientError, match=r"was replaced or purged since the table was opened; open it again$"):
        table.to_arrow()
    assert rows(gluepot.table.open(folder)) == [{"a": 1}, {"a": 2}]


def test_a_file_that_somebody_removed_is_another_error(folder):
    Writer(folder).publish(0, [{"a": 1}])
    table = gluepot.table.open(folder)
    (file,) = Path(folder).glob("*.parquet")
    file.unlink()
    with pytest.raises(PermanentError, match=r"is gone, although the manifest of batch 0 names it"):
        table.to_arrow()


def test_a_damaged_file_is_named(folder):
    Writer(folder).publish(0, [{"a": 1}])
    (file,) = Path(folder).glob("*.parquet")
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(PermanentError, match=rf"{file.name} cannot be read"):
        gluepot.table.open(folder).to_arrow()


KEYS = [
    {"k": "007"},
    {"k": "1e3"},
    {"k": "true"},
    {"k": None},
    {"k": "a/b=c%2F'"},
    {"k": 7},
    {"k": True},
    {"k": 1e10},
    {"k": Decimal("1.50")},
    {"k": date(2026, 1, 5)},
    {"k": datetime(2026, 1, 5, 12, 30, 0, 500_000, tzinfo=UTC)},
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("name", FORMATS)
def test_partition_values_keep_their_type(folder, key, name):
    Writer(folder, name, partition_keys=["k"]).publish(0, [{"v": 1, **key}])
    table = gluepot.table.open(folder)
    assert rows(table) == seen_by_duckdb(table) == [{"v": 1, **key}]


def test_columns_missing_in_a_file_are_null(folder):
    writer = Writer(folder)
    writer.publish(0, [{"a": 1}])
    writer.publish(1, [{"b": {"x": [1]}}])
    writer.publish(2, [{"b": {"y": "z"}}])
    table = gluepot.table.open(folder)
    assert (
        rows(table)
        == seen_by_duckdb(table)
        == [
            {"a": 1, "b": None},
            {"a": None, "b": {"x": [1], "y": None}},
            {"a": None, "b": {"x": None, "y": "z"}},
        ]
    )


@pytest.mark.parametrize("name", FORMATS)
def test_types_are_widened_over_all_batches(folder, name):
    writer = Writer(folder, name)
    writer.publish(0, pa.record_batch({"n": pa.array([1], pa.int32()), "m": [1]}))
    writer.publish(1, pa.record_batch({"n": [2**40], "m": [1.5]}))
    table = gluepot.table.open(folder)
    assert table.schema == pa.schema({"n": pa.int64(), "m": pa.float64()})
    assert rows(table) == seen_by_duckdb(table) == [{"n": 1, "m": 1.0}, {"n": 2**40, "m": 1.5}]


@pytest.mark.parametrize("name", FORMATS)
def test_a_column_whose_types_have_nothing_in_common_is_text(folder, name):
    writer = Writer(folder, name)
    writer.publish(0, [{"a": 1}])
    writer.publish(1, [{"a": "x"}])
    writer.publish(2, [{"a": {"b": True}}])
    table = gluepot.table.open(folder)
    assert rows(table) == seen_by_duckdb(table) == [{"a": "1"}, {"a": "x"}, {"a": '{"b":true}'}]


def test_a_partition_key_may_change_its_type_and_become_a_column(folder):
    Writer(folder, partition_keys=["k"]).publish(0, [{"v": 1, "k": 7}])
    Writer(folder, partition_keys=["k"]).publish(1, [{"v": 2, "k": "007"}])
    Writer(folder).publish(2, [{"v": 3, "k": 8}])
    table = gluepot.table.open(folder)
    assert rows(table) == seen_by_duckdb(table) == [{"v": 1, "k": "7"}, {"v": 2, "k": "007"}, {"v": 3, "k": "8"}]


def test_names_that_differ_by_case_are_told_apart(folder):
    writer = Writer(folder)
    writer.publish(0, [{"Id": 1}])
    writer.publish(1, [{"id": 2}])
    table = gluepot.table.open(folder)
    assert rows(table) == seen_by_duckdb(table) == [{"Id_1": 1, "id": None}, {"Id_1": None, "id": 2}]


@pytest.mark.parametrize("parent", ["day=5", "x[1]", "it's"])
def test_the_name_of_a_folder_above_the_table_means_nothing(tmp_path, parent):
    folder = str(tmp_path / parent / "table")
    Writer(folder, partition_keys=["k"]).publish(0, [{"day": 1, "k": "a"}])
    table = gluepot.table.open(folder)
    assert rows(table) == seen_by_duckdb(table) == [{"day": 1, "k": "a"}]


@pytest.mark.parametrize("name", FORMATS)
def test_only_the_columns_asked_for_are_there(folder, name):
    Writer(folder, name, partition_keys=["k"]).publish(0, [{"a": 1, "b": 2, "k": "x"}])
    table = gluepot.table.open(folder)
    assert table.to_arrow(["k", "b"]).to_pylist() == [{"k": "x", "b": 2}]
    assert [batch.schema.names for batch in table.to_batches(["b"])] == [["b"]]


def test_an_unknown_column_is_named_with_those_there_are(folder):
    Writer(folder).publish(0, [{"event_id": 1, "day": "x"}])
    with pytest.raises(ConfigError, match=r"no column 'event'; use some of event_id, day\. Did you mean 'event_id'\?"):
        gluepot.table.open(folder).to_arrow(["event"])


def test_rejected_records_are_a_table_of_their_own(folder):
    writer = Writer(folder)
    writer.publish(0, [{"a": 1}], bad=[b"{", b"\xff"])
    writer.publish(1, [{"a": 2}])
    writer.publish(2, bad=[b"["])
    table = gluepot.table.open(folder)
    found = table.rejects().select(["raw", "stream", "position", "reason"]).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        (b"{", "clicks", "0", "malformed_json"),
        (b"\xff", "clicks", "1", "malformed_json"),
        (b"[", "clicks", "4", "malformed_json"),
    ]
    assert table.to_arrow().num_rows == 2


def test_a_table_without_rejected_records_has_an_empty_one(folder):
    Writer(folder).publish(0, [{"a": 1}])
    found = gluepot.table.open(folder).rejects()
    assert (found.num_rows, found.schema.names[0]) == (0, "raw")


def test_rejected_records_in_another_folder_are_found_when_it_is_named(folder, tmp_path):
    Writer(folder, rejects_path=str(tmp_path / "bad")).publish(0, [{"a": 1}], bad=[b"{"])
    with pytest.raises(ConfigError, match="give it as rejects_path"):
        gluepot.table.open(folder).rejects()
    assert gluepot.table.open(folder, rejects_path=str(tmp_path / "bad")).rejects()["raw"].to_pylist() == [b"{"]


def test_a_folder_without_manifests_is_no_table(tmp_path):
    with pytest.raises(ConfigError, match=rf"^{tmp_path} is not a table: no batch was published there"):
        gluepot.table.open(str(tmp_path))


def test_a_table_without_rows_is_empty(folder):
    Writer(folder).publish(0)
    table = gluepot.table.open(folder)
    assert (table.to_arrow().num_rows, table.schema.names, list(table.files())) == (0, [], [])
    with pytest.raises(ConfigError, match=r"has no rows yet and so no columns"):
        table.duckdb()


def test_a_table_is_arrow_data_for_whoever_takes_it(folder):
    Writer(folder).publish(0, [{"a": 1}, {"a": 2}])
    table = gluepot.table.open(folder)
    assert pa.table(table).to_pylist() == [{"a": 1}, {"a": 2}]


def test_the_view_is_made_in_the_connection_given_and_replaces_an_older_one(folder):
    writer = Writer(folder)
    writer.publish(0, [{"a": 1}])
    with duckdb.connect() as db:
        assert gluepot.table.open(folder).duckdb(db, "my clicks") is db
        writer.publish(1, [{"a": 2}])
        gluepot.table.open(folder).duckdb(db, "my clicks")
        assert db.sql('SELECT sum(a) FROM "my clicks"').fetchall() == [(3,)]
        assert db.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall() == [("my clicks",)]


@pytest.mark.parametrize(("name", "native"), [("glueparquet", True), ("json", False)])
def test_duckdb_reads_local_parquet_files_itself(folder, name, native):
    Writer(folder, name, partition_keys=["k"]).publish(0, [{"a": 1, "k": "x"}])
    with gluepot.table.open(folder).duckdb(name="t") as db:
        ((_, plan),) = db.sql("EXPLAIN SELECT a FROM t").fetchall()
    assert ("PARQUET" in plan) == native
