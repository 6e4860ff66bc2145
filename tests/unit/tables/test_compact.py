"""Compaction changes files and nothing else, whatever dies when, and whoever compacts at the same time."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gluepot.table
from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat
from gluepot.connectors.files.sink.layout import commit_key
from gluepot.connectors.values import CommitKey
from gluepot.core import failpoints
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError, PermanentError, TransientError
from gluepot.core.storage import open_storage
from gluepot.tables import compact as module
from gluepot.tables.compact import CompactSettings, Refused, compact, plan, planned
from gluepot.tables.files import TableFile
from gluepot.tables.verify import verify
from tests.unit.tables.tables import Writer

BATCHES = 5
STEPS = ("compact.intent", "compact.moved", "compact.created", "compact.ended")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "clicks")


@pytest.fixture
def writer(folder):
    """What wrote a table of five batches in two folders."""
    writer = Writer(folder, partition_keys=["day"])
    for batch_id in range(BATCHES):
        writer.publish(batch_id, [{"n": 10 * batch_id + n, "day": n % 2} for n in range(10)])
    return writer


def run(folder, settings=CompactSettings(), owner="a"):  # noqa: B008  frozen
    return list(compact(open_storage(folder), settings, FakeClock(1.0), owner))


def numbers(folder):
    return sorted(gluepot.table.open(folder).to_arrow()["n"].to_pylist())


def numbers_in_folder(folder):
    """What a reader finds that knows nothing of manifests."""
    return [
        row[0] for row in duckdb.sql(f"SELECT n FROM read_parquet('{folder}/day=*/*.parquet') ORDER BY n").fetchall()
    ]


def is_clean(folder):
    found = verify(open_storage(folder), None)
    return found.findings == [] and not found.unfinished


def test_small_files_become_one_in_each_folder_but_for_those_of_the_newest_batch(folder, writer):
    before = gluepot.table.open(folder)
    rows = before.to_arrow().sort_by("n")

    done = run(folder)

    assert [(one.folder, one.files, one.rows) for one in done] == [("day=0", 4, 20), ("day=1", 4, 20)]
    after = gluepot.table.open(folder)
    assert after.to_arrow().sort_by("n") == rows
    assert len(after.files()) == 4
    assert numbers_in_folder(folder) == rows["n"].to_pylist()
    assert is_clean(folder)


def test_what_comes_later_is_compacted_with_what_was_made_before(folder, writer):
    run(folder)
    for batch_id in range(BATCHES, 2 * BATCHES):
        writer.publish(batch_id, [{"n": 10 * batch_id + n, "day": n % 2} for n in range(10)])

    run(folder, owner="b")

    assert numbers(folder) == numbers_in_folder(folder) == list(range(100))
    assert len(gluepot.table.open(folder).files()) == 4
    assert is_clean(folder)


def test_nothing_is_left_to_do_after_it(folder, writer):
    run(folder)

    assert run(folder) == []


def test_a_dry_run_changes_nothing(folder, writer):
    files = gluepot.table.open(folder).files()

    told = list(planned(open_storage(folder), CompactSettings()))

    assert [(one.folder, one.files, one.rows, one.bytes_after) for one in told] == [
        ("day=0", 4, 20, 0),
        ("day=1", 4, 20, 0),
    ]
    assert gluepot.table.open(folder).files() == files


def test_columns_that_only_some_files_have_are_kept(folder):
    writer = Writer(folder)
    writer.publish(0, [{"n": 1}])
    writer.publish(1, [{"n": 2, "tags": ["a"]}])
    writer.publish(2, [{"n": 3, "at": {"x": 1}}])
    writer.publish(3, [{"n": 4, "at": {"y": "b"}}])
    writer.publish(4, [{"n": 5}])
    rows = gluepot.table.open(folder).to_arrow().sort_by("n")

    (done,) = run(folder)

    assert done.files == 4
    assert gluepot.table.open(folder).to_arrow().sort_by("n") == rows


@pytest.mark.parametrize(
    ("one", "other"), [(1, "a"), (2**53 + 1, 0.5), ({"x": 1}, {"x": 0.5}), ([1], ["a"]), (1, {"x": 1}), ({"x": 1}, 1)]
)
def test_files_in_which_a_column_has_another_type_stay_apart(folder, one, other):
    writer = Writer(folder)
    for batch_id, value in enumerate([one, other, one, other, None]):
        writer.publish(batch_id, [{"n": batch_id, "value": value}])
    rows = gluepot.table.open(folder).to_arrow().sort_by("n")

    done = run(folder)

    assert [one.files for one in done] == [2, 2]
    assert gluepot.table.open(folder).to_arrow().sort_by("n") == rows
    assert is_clean(folder)


def test_files_of_other_formats_stay(folder):
    writer = Writer(folder, format="json")
    for batch_id in range(3):
        writer.publish(batch_id, [{"n": batch_id}])

    assert run(folder) == []


def test_rows_of_many_files_are_one_row_group_in_the_codec_asked_for(folder, writer):
    run(folder, CompactSettings(format=ParquetOutputFormat("gzip")))

    (made,) = Path(folder).glob("day=0/compact-*.parquet")
    metadata = pq.read_metadata(made)
    assert metadata.num_row_groups == 1
    assert metadata.row_group(0).column(0).compression == "GZIP"


def test_rows_are_sorted_where_that_is_asked_for(folder):
    writer = Writer(folder)
    for batch_id, number in enumerate([3, 1, 2, 0]):
        writer.publish(batch_id, [{"n": number}])

    run(folder, CompactSettings(sort_by="n"))

    (made,) = Path(folder).glob("compact-*.parquet")
    assert pq.read_table(made)["n"].to_pylist() == [1, 2, 3]


def test_a_column_to_sort_by_that_is_not_there_is_named_and_nothing_changes(folder, writer):
    with pytest.raises(ConfigError, match="has no column 'm'; use some of n, day"):
        run(folder, CompactSettings(sort_by="m"))

    assert numbers(folder) == numbers_in_folder(folder) == list(range(50))
    assert is_clean(folder)


def test_a_folder_without_manifests_is_no_table(tmp_path):
    with pytest.raises(ConfigError, match="is not a table"):
        run(str(tmp_path))


def test_a_table_that_was_opened_before_says_to_open_it_again(folder, writer):
    table = gluepot.table.open(folder)
    run(folder)

    with pytest.raises(TransientError, match="was replaced or purged since the table was opened; open it again"):
        table.to_arrow()


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (Path.unlink, "is gone, although the manifest of batch 0 names it"),
        (lambda path: path.write_bytes(b"PAR1"), "cannot be read .*`gluepot table verify` tells what else is damaged"),
    ],
    ids=["gone", "damaged"],
)
def test_what_happens_to_a_file_after_its_check_is_named_and_nothing_changes(
    folder, writer, monkeypatch, happens, said
):
    victim = min(Path(folder).glob("day=0/*.parquet"))
    before = victim.read_bytes()

    def checked_just_before(_table, _storage, file):
        if file.path == f"day=0/{victim.name}":
            happens(victim)

    monkeypatch.setattr(module, "file_finding", checked_just_before)
    with pytest.raises(PermanentError, match=f"/day=0/{victim.name} {said}"):
        run(folder)
    victim.write_bytes(before)
    assert numbers(folder) == list(range(50))
    assert is_clean(folder)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("nth", [1, 2])
def test_one_that_dies_loses_and_doubles_nothing(folder, writer, monkeypatch, step, nth):
    monkeypatch.setenv("GLUEPOT_FAILPOINT", f"{step}@{nth}")
    monkeypatch.setenv("GLUEPOT_FAILPOINT_ACTION", "raise")
    monkeypatch.setattr(failpoints, "_reached", Counter())

    with pytest.raises(OSError, match="failpoint"):
        run(folder)

    assert numbers(folder) == list(range(50))
    assert verify(open_storage(folder), None).findings == []
    monkeypatch.delenv("GLUEPOT_FAILPOINT")
    run(folder, owner="b")
    assert numbers(folder) == numbers_in_folder(folder) == list(range(50))
    assert len(gluepot.table.open(folder).files()) == 4
    assert is_clean(folder)


@pytest.mark.parametrize("step", ["compact.intent", "compact.moved"])
def test_of_two_at_a_time_one_gives_up_and_nothing_is_lost(folder, writer, monkeypatch, step):
    others = []

    def meanwhile(name):
        if name == step and not others:
            others.append("b")
            others.extend(run(folder, owner="b"))

    monkeypatch.setattr(module, "reach", meanwhile)

    with pytest.raises(TransientError, match="came first; nothing is lost, run this one again"):
        run(folder, owner="a")

    assert [one.files for one in others[1:]] == [4, 4]
    assert numbers(folder) == numbers_in_folder(folder) == list(range(50))
    assert is_clean(folder)


def test_a_batch_that_a_later_driver_agrees_to_stays_compacted(folder, writer):
    run(folder)
    (record,) = [one for one in gluepot.table.open(folder).commits if one.key.batch_id == 2]
    agreed = replace(record, generation=2, token=7)
    open_storage(folder).create(commit_key(agreed.key, agreed.generation), agreed.to_bytes())

    assert numbers(folder) == list(range(50))
    assert is_clean(folder)


def first_file(folder):
    return min(Path(folder).glob("day=0/*.parquet"))


def with_another_last_byte(path):
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def with_fewer_rows(path):
    pq.write_table(pq.read_table(path).slice(0, 1), path)


@pytest.mark.parametrize(
    ("damage", "kind", "sentence"),
    [
        (with_another_last_byte, "checksum", r"has CRC [0-9a-f]{8} and was published with [0-9a-f]{8}"),
        (with_fewer_rows, "size", r"has \d+ bytes and was published with \d+"),
        (Path.unlink, "missing", "is gone; batch 0 of query q1 put 5 records there"),
    ],
)
def test_a_file_that_is_not_as_its_manifest_says_stays_and_the_others_are_compacted(
    folder, writer, damage, kind, sentence
):
    damaged = first_file(folder)
    damage(damaged)

    refused, *done = run(folder)

    path = str(damaged.relative_to(folder))
    assert isinstance(refused, Refused)
    assert refused.path == path
    assert re.match(
        f"{re.escape(path)} {sentence}; compaction leaves it alone: restore .* compact again$", refused.message
    )
    assert [(one.folder, one.files, one.rows) for one in done] == [("day=0", 3, 15), ("day=1", 4, 20)]
    assert [(one.kind, one.where) for one in verify(open_storage(folder), None).findings] == [(kind, path)]


def test_a_file_whose_rows_its_manifest_miscounts_stays(folder, writer):
    path = str(first_file(folder).relative_to(folder))
    storage = open_storage(folder)
    (record,) = [one for one in gluepot.table.open(folder).commits if one.key.batch_id == 0]
    files = [replace(file, rows=7 if file.path == path else file.rows) for file in record.files]
    storage.put(commit_key(record.key, 1), replace(record, files=files).to_bytes())

    refused, *done = run(folder)

    assert refused.message.startswith(f"{path} holds 5 records, its manifest says 7; compaction leaves it alone")
    assert [one.files for one in done] == [3, 4]


def file(query, batch_id, folder, size_bytes):
    key = CommitKey(query, batch_id, "sink0")
    return TableFile(f"{folder}/{query}-{batch_id}-{size_bytes}", size_bytes, 1, 0, {"format": "parquet"}, key, 1, None)


files = st.lists(st.builds(file, st.sampled_from("pq"), st.integers(0, 5), st.sampled_from("abc"), st.integers(1, 300)))


@given(files)
def test_a_plan_takes_small_files_once_each_of_one_folder_and_never_the_newest_batch(found):
    newest = {
        query: max(one.key.batch_id for one in found if one.key.query_id == query)
        for query in {one.key.query_id for one in found}
    }

    groups = plan(found, newest, 200)

    taken = [id(one) for group in groups for one in group]
    assert len(taken) == len(set(taken))
    for group in groups:
        assert len(group) > 1
        assert len({one.path[0] for one in group}) == 1
        assert sum(one.size_bytes for one in group[:-1]) < 200
        assert all(one.size_bytes < 100 and one.key.batch_id < newest[one.key.query_id] for one in group)
