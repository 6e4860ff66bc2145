from __future__ import annotations

import os
import pickle
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from gluepot.connectors.files.source.grouping import (
    ACROSS_PARTITION,
    IN_PARTITION,
    NONE,
    FileGroup,
    GroupOptions,
    grouped,
)
from gluepot.connectors.files.source.listing import ListingStats, list_files
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.connectors.files.source.versions import FileVersion
from gluepot.core.errors import ConfigError, TransientError
from tests.unit.files.reading import records

MIB = 1 << 20


def planned(root, **options):
    settings = FileReadSettings.from_glue({"paths": [str(root)], **options}, "json", {})
    return settings.source, FileGroup(tuple(list_files(settings.listing, ListingStats())))


def read(source, group):
    return [chunk.batch.num_rows for chunk in source.read(group)]


def test_partitions_become_columns_that_outweigh_those_of_the_file(tmp_path):
    folder = tmp_path / "year=2024" / "city=K%C3%B6ln"
    folder.mkdir(parents=True)
    (folder / "a").write_text('{"id": 1, "year": 1}')
    (tmp_path / "year=__HIVE_DEFAULT_PARTITION__").mkdir()
    (tmp_path / "year=__HIVE_DEFAULT_PARTITION__" / "b").write_text('{"id": 2}')
    assert records(tmp_path, "json") == [{"id": 1, "year": "2024", "city": "Köln"}, {"id": 2}]


@pytest.mark.parametrize(("year", "columns"), [("2024", []), ("null", []), ('"1999"', ["year"]), ("[1]", ["year"])])
def test_values_that_give_way_to_those_of_the_folder_are_told(tmp_path, year, columns):
    (tmp_path / "year=2024").mkdir()
    (tmp_path / "year=2024" / "a").write_text(f'{{"id": 1, "year": {year}}}')
    with capture_logs() as logs:
        records(tmp_path, "json")
    assert [line["columns"] for line in logs if line["event"] == "columns_hidden"] == ([columns] if columns else [])


def test_file_and_time_can_be_attached(tmp_path):
    (tmp_path / "a").write_text('{"id": 1}')
    os.utime(tmp_path / "a", (1_700_000_000, 1_700_000_000))
    assert records(tmp_path, "json", attachFilename="file", attachTimestamp="at") == [
        {"id": 1, "file": f"{tmp_path}/a", "at": datetime.fromtimestamp(1_700_000_000, UTC)}
    ]


def test_a_source_travels_to_the_task(tmp_path):
    (tmp_path / "a").write_text('{"id": 1}')
    source, group = pickle.loads(pickle.dumps(planned(tmp_path, recurse=True, exclusions="[]")))
    assert read(source, group) == [1]


@pytest.mark.parametrize("change", ["delete", "overwrite", "append"])
def test_a_file_that_changed_after_it_was_listed_is_left_to_the_next_run(tmp_path, change):
    source, group = planned_and_changed(tmp_path, change)
    with capture_logs() as lines:
        assert read(replace(source, has_bookmark=True), group) == [1]
    assert [line["event"] for line in lines] == ["file_gone"]


@pytest.mark.parametrize("change", ["delete", "overwrite", "append"])
def test_without_a_bookmark_a_file_that_changed_after_it_was_listed_ends_the_job(tmp_path, change):
    source, group = planned_and_changed(tmp_path, change)
    with pytest.raises(TransientError, match="rows would be missing; run the job again"):
        read(source, group)


def planned_and_changed(tmp_path, change):
    """Plan the read of two files, and change the first."""
    (tmp_path / "a").write_text('{"id": 1}\n')
    (tmp_path / "b").write_text('{"id": 2}\n')
    source, group = planned(tmp_path)
    match change:
        case "delete":
            (tmp_path / "a").unlink()
        case "overwrite":
            (tmp_path / "a").write_text('{"id": 7}\n')
        case "append":
            with (tmp_path / "a").open("a") as file:
                file.write('{"id": 8}\n')
    return source, group


def file(folder: str, name: str, size_bytes: int) -> FileVersion:
    return FileVersion("/t", f"/t/{folder}", name, size_bytes, 0)


def names(groups):
    return [[one.name for one in group.files] for group in groups]


FILES = [file("day=1", "a", 10), file("day=1", "b", 10), file("day=2", "c", 10)]


def test_small_files_share_a_task():
    assert names(grouped(FILES, GroupOptions(), 1)) == [["a", "b", "c"]]


def test_folders_stay_apart_if_the_script_says_so():
    assert names(grouped(FILES, GroupOptions(IN_PARTITION, 100 * MIB), 1)) == [["a", "b"], ["c"]]


def test_without_groups_each_file_is_a_task():
    assert names(grouped(FILES, GroupOptions(NONE), 1)) == [["a"], ["b"], ["c"]]


def test_a_group_has_its_size():
    files = [file("", name, 30 * MIB) for name in "abcd"]
    assert names(grouped(files, GroupOptions(ACROSS_PARTITION, 70 * MIB), 1)) == [["a", "b"], ["c", "d"]]


def test_files_are_spread_over_the_tasks_that_run_at_once():
    files = [file("", name, 30 * MIB) for name in "abcd"]
    assert len(grouped(files, GroupOptions(), 1)) == 2
    assert len(grouped(files, GroupOptions(), 4)) == 4


def test_no_files_are_no_groups():
    assert grouped([], GroupOptions(), 4) == ()


def test_the_description_makes_the_settings_again(tmp_path):
    options = {"paths": [str(tmp_path)], "recurse": "true", "exclusions": '["**.pdf"]', "boundedFiles": "3"}
    settings = FileReadSettings.from_glue(options, "csv", {"separator": ";"}, "year = 2024")
    again = FileReadSettings.from_description(settings.description)
    assert (again.listing.exclusions, again.plan, again.source) == (
        settings.listing.exclusions,
        settings.plan,
        settings.source,
    )
    assert again.description == settings.description


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "paths to read are None"),
        ({"paths": []}, "paths to read are"),
        ({"paths": ["x"], "boundedFiles": "many"}, "boundedFiles is 'many'; use an integer of 1 or more"),
        ({"paths": ["x"], "groupFiles": "inPartitions"}, "Did you mean 'inPartition'"),
        ({"paths": ["x"], "recurse": "maybe"}, "recurse is 'maybe'; use true or false"),
        ({"paths": ["x"], "compressionType": "lzo"}, "compressionType is 'lzo'; use one of none, gzip"),
    ],
)
def test_options_that_are_not_understood_are_said(options, message):
    with pytest.raises(ConfigError, match=message):
        FileReadSettings.from_glue(options, "json", {})
