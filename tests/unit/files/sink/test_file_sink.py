from __future__ import annotations

import os
import pickle
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from structlog.testing import capture_logs

from gluepot.connectors.contracts import Sink
from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat
from gluepot.connectors.files.sink import FileSink, new_file_sink, partitions
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord
from gluepot.frames.columns import batch_of
from tests.unit.files.sink.staged import KEY, data_files, parquet_rows, path, write

BROKEN = ErrorRecord(b'{"a":\xff', "malformed_json", "cut off", Coordinates("clicks", "0", "41"))


def sink_to(folder: Path, *keys: str, block_size_bytes: int = 1 << 20, **options) -> FileSink:
    parquet = ParquetOutputFormat(block_size_bytes=block_size_bytes)
    return new_file_sink(str(folder), KEY, parquet, partition_keys=keys, **options)


def staged_and_left(folder: Path) -> list[str]:
    return [name for _, _, names in os.walk(folder) for name in names]


def test_a_file_sink_is_a_sink(tmp_path):
    sink: Sink = sink_to(tmp_path)
    assert pickle.loads(pickle.dumps(sink)) == sink


def test_each_partition_value_of_a_task_gets_one_file(tmp_path):
    sink = sink_to(tmp_path, "day")
    part = write(sink, [{"day": "a", "v": 1}, {"day": "b", "v": 2}], [{"day": "a", "v": 3}])
    files = data_files(part)
    assert len(files) == len(part.files) == 2
    assert parquet_rows(sink, files["day=a"]) == [{"v": 1}, {"v": 3}]
    assert parquet_rows(sink, files["day=b"]) == [{"v": 2}]


def test_a_part_counts_what_its_files_hold(tmp_path):
    sink = sink_to(tmp_path, "day")
    part = write(sink, [{"day": "a", "v": 1}, {"day": "b", "v": 2}, {"day": "b", "v": 3}])
    assert part.rows_out == 3
    assert [file.rows for file in part.files] == [1, 2]
    for file in part.files:
        content = path(sink, file).read_bytes()
        assert (file.size_bytes, file.crc32) == (len(content), zlib.crc32(content))


def test_no_rows_no_files(tmp_path):
    part = write(sink_to(tmp_path), pa.record_batch({"v": pa.array([], pa.int64())}))
    assert (list(part.files), part.schema, part.rows_out) == ([], None, 0)
    assert staged_and_left(tmp_path) == []


def test_nothing_staged_matches_a_readers_pattern(tmp_path):
    sink = sink_to(tmp_path, "day")
    part = sink.write(iter([Chunk(pa.record_batch({"day": ["a"], "v": [1]}), [BROKEN])]), 0, "attempt/0")
    assert {Path(file.staged).suffix for file in part.files} == {".staged"}
    assert {file.staged.split("/")[0] for file in part.files} == {"_gluepot"}


def test_rejected_records_keep_their_bytes_and_their_position(tmp_path):
    sink = sink_to(tmp_path)
    part = sink.write(iter([Chunk(pa.record_batch({"v": [1]}), [BROKEN])]), 3, "attempt/0")
    (rejects,) = (file for file in part.files if file.rejects)
    assert rejects.final.startswith("_rejects/run-")
    assert rejects.final.endswith("-part-r-00003.rejects")
    assert part.rejected == {"malformed_json": 1}
    (row,) = parquet_rows(sink, rejects)
    assert (row["raw"], row["stream"], row["shard"], row["position"]) == (BROKEN.raw, "clicks", "0", "41")


def test_rejects_go_to_a_folder_of_their_own_when_asked(tmp_path):
    sink = sink_to(tmp_path / "table", rejects_path=str(tmp_path / "aside"))
    part = sink.write(iter([Chunk(pa.record_batch({"v": [1]}), [BROKEN])]), 0, "attempt/0")
    (rejects,) = (file for file in part.files if file.rejects)
    assert "/" not in rejects.final
    assert (tmp_path / "aside" / rejects.staged).exists()


def test_columns_may_come_and_go(tmp_path):
    sink = sink_to(tmp_path)
    part = write(sink, [{"a": 1}], [{"b": "x"}], [{"a": 2, "c": 1.5}])
    (file,) = part.files
    assert parquet_rows(sink, file) == [
        {"a": 1, "b": None, "c": None},
        {"a": None, "b": "x", "c": None},
        {"a": 2, "b": None, "c": 1.5},
    ]


def test_a_type_conflict_loses_no_value(tmp_path):
    sink = sink_to(tmp_path)
    (file,) = write(sink, [{"a": 1}], [{"a": "x"}], [{"a": {"b": [True]}}]).files
    assert parquet_rows(sink, file) == [{"a": "1"}, {"a": "x"}, {"a": '{"b":[true]}'}]


def test_a_new_column_after_the_first_row_group_begins_another_file(tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "_SPLIT_BYTES", 1)
    sink = sink_to(tmp_path, block_size_bytes=1)
    part = write(sink, [{"a": 1}], [{"a": 2}], [{"a": 3, "b": 4}], [{"a": 5}])
    first, second = part.files
    assert parquet_rows(sink, first) == [{"a": 1}, {"a": 2}]
    assert parquet_rows(sink, second) == [{"a": 3, "b": 4}, {"a": 5, "b": None}]
    assert first.final != second.final


def test_a_file_that_reached_its_target_size_gets_no_further_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "_SPLIT_BYTES", 1)
    sink = sink_to(tmp_path, block_size_bytes=1, target_file_size_bytes=1)
    part = write(sink, [{"a": 1}], [{"a": 2}], [{"a": 3}])
    assert [file.rows for file in part.files] == [1, 1, 1]
    assert len({file.final for file in part.files}) == 3


def test_memory_is_bounded_over_all_partitions_together(tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "_SPLIT_BYTES", 1)
    monkeypatch.setattr(partitions, "_HELD_BYTES", 100)
    sink = sink_to(tmp_path, "k")
    part = write(sink, *([{"k": k, "v": "x" * 30} for k in "ab"] for _ in range(5)))
    assert parquet_rows(sink, *part.files) == [{"v": "x" * 30}] * 10
    assert len(part.files) == 2


def test_smaller_row_groups_bound_the_memory_of_all_partitions_together(tmp_path):
    rows = [[{"k": k, "v": "x" * 1_000} for k in range(32)]] * 15
    small, ordinary = sink_to(tmp_path / "small", "k", block_size_bytes=20_000), sink_to(tmp_path / "ordinary", "k")

    groups = {
        sink.root: {pq.ParquetFile(path(sink, file)).num_row_groups for file in write(sink, *rows).files}
        for sink in (small, ordinary)
    }

    # No partition has the 20,000 bytes of a row group, all of them have three times what eight of those make.
    assert min(groups[small.root]) > 1
    assert groups[ordinary.root] == {1}


def test_open_files_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "_SPLIT_BYTES", 1)
    monkeypatch.setattr(partitions, "_MOST_OPEN_FILES", 2)
    sink = sink_to(tmp_path, "k", block_size_bytes=1)
    part = write(sink, *([{"k": k, "v": 1} for k in "abcd"] for _ in range(2)))
    assert part.rows_out == 8
    assert len(parquet_rows(sink, *part.files)) == 8
    assert len({file.final for file in part.files}) == len(part.files) > 4


def test_a_partition_value_too_long_for_a_folder_is_a_rejected_record(tmp_path):
    sink = sink_to(tmp_path, "k")
    part = write(sink, [{"k": "x" * 300, "v": 1}, {"k": "y", "v": 2}])
    assert part.rejected == {"partition_value_too_long": 1}
    assert part.rows_out == 1
    (row,) = parquet_rows(sink, *(file for file in part.files if file.rejects))
    assert row["raw"] == b'{"k":"' + b"x" * 300 + b'","v":1}'


def test_records_without_a_column_to_write_are_rejected_when_alone(tmp_path):
    sink = sink_to(tmp_path, "k")
    part = write(sink, [{"k": "a"}, {"k": None}])
    assert part.rejected == {"nothing_to_write": 2}
    assert part.rows_out == 0


def test_records_without_a_column_to_write_are_rows_of_nulls_beside_others(tmp_path):
    sink = sink_to(tmp_path)
    (file,) = write(sink, [{"v": 1}], batch_of([], 1)).files
    assert parquet_rows(sink, file) == [{"v": 1}, {"v": None}]


def test_columns_that_differ_by_case_do_not_break_the_file(tmp_path):
    sink = sink_to(tmp_path)
    with capture_logs() as logs:
        (file,) = write(sink, [{"id": 1, "ID": "a"}]).files
    assert parquet_rows(sink, file) == [{"id": 1, "ID_1": "a"}]
    assert [line["names"] for line in logs if line["event"] == "columns_renamed"] == [{"ID_1": "ID"}]


def test_the_schema_has_the_columns_of_all_files_then_the_keys_with_their_types(tmp_path):
    part = write(sink_to(tmp_path, "n"), [{"n": 1, "a": "x"}], [{"n": 2, "b": 1.5}])
    schema = pa.ipc.read_schema(pa.py_buffer(part.schema))
    assert schema == pa.schema([("a", pa.string()), ("b", pa.float64()), ("n", pa.int64())])


def test_a_repeated_task_repeats_its_names_under_other_staged_ones(tmp_path):
    sink = sink_to(tmp_path, "k")
    parts = [
        sink.write(iter([Chunk(pa.record_batch({"k": ["a"], "v": [1]}))]), 5, attempt) for attempt in ("a/0", "a/1")
    ]
    (first,), (second,) = (part.files for part in parts)
    assert first.final == second.final
    assert first.staged != second.staged


def test_a_task_that_fails_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "_SPLIT_BYTES", 1)

    def chunks():
        yield Chunk(pa.record_batch({"k": ["a", "b"], "v": [1, 2]}), [BROKEN])
        raise ConfigError("the source is gone")

    with pytest.raises(ConfigError, match="source is gone"):
        sink_to(tmp_path, "k", block_size_bytes=1).write(chunks(), 0, "attempt/0")
    assert staged_and_left(tmp_path) == []


@pytest.mark.parametrize("keys", [["a", "a"], ["a", "A"], [""]])
def test_each_partition_key_is_named_once(tmp_path, keys):
    with pytest.raises(ConfigError, match="partitionKeys"):
        sink_to(tmp_path, *keys)


def test_check_leaves_nothing_behind(tmp_path):
    sink_to(tmp_path, rejects_path=str(tmp_path / "aside")).check()
    assert staged_and_left(tmp_path) == []


def test_check_names_a_table_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file"):
        sink_to(tmp_path / "file" / "table").check()


def test_two_writes_of_one_batch_do_not_share_a_name(tmp_path):
    parquet = ParquetOutputFormat()
    finals = set()
    for ctx in ("write-0", "write-1"):
        sink = new_file_sink(str(tmp_path), CommitKey("q", 0, ctx), parquet)
        finals.update(file.final for file in write(sink, [{"a": 1}]).files)
    assert len(finals) == 2


def test_a_row_with_a_text_that_is_not_utf8_is_a_rejected_record_with_its_bytes(tmp_path):
    sink = sink_to(tmp_path)
    bad = pa.array([b"x", b"\xc3(", b"k\xc3\xb6ln", None]).view(pa.string())
    lists = pa.ListArray.from_arrays([0, 1, 1, 2, 3], pa.array([b"a", b"b", b"\xff"]).view(pa.string()))
    part = write(sink, pa.record_batch({"id": [1, 2, 3, 4], "text": bad, "list": lists}))
    (data, rejects) = part.files
    assert [row["id"] for row in parquet_rows(sink, data)] == [1, 3]
    assert pq.read_table(path(sink, rejects)).column("raw").to_pylist() == [
        b'{"id":2,"text":"\xc3(","list":[]}',
        b'{"id":4,"list":["\xff"]}',
    ]
    assert (part.rows_out, part.rejected) == (2, {"invalid_utf8": 2})
