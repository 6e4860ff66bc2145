from dataclasses import replace
from pathlib import Path

import pytest

from gluepot.cli.dlq import purge as purge_command
from gluepot.commit.publish import published
from gluepot.connectors.files.sink.layout import commit_key
from gluepot.connectors.ports import CommitKey
from gluepot.core.errors import ConfigError, TransientError
from gluepot.dead_letters.folder import open_folder
from gluepot.dead_letters.letters import read_letters
from gluepot.dead_letters.purge import Purged, purge
from tests.unit.dead_letters.world import publish, raws


@pytest.fixture
def table(tmp_path):
    return str(tmp_path / "table")


def rejects_files(table):
    return [path.name for path in Path(table).rglob("*.rejects")]


def data_files(table):
    return sorted(path.name for path in Path(table).glob("*.parquet"))


def test_purged_letters_are_gone_and_the_data_stays(table):
    publish(table, 0, b"{a", b"{b")
    publish(table, 1, b"{c")
    before = data_files(table)

    assert purge(open_folder(table), None) == Purged(files=2, records=3)

    assert list(read_letters(open_folder(table))) == []
    assert rejects_files(table) == []
    assert data_files(table) == before


def test_one_batch_can_be_purged(table):
    publish(table, 0, b"{a")
    publish(table, 1, b"{c")
    purge(open_folder(table), 0)
    assert raws(read_letters(open_folder(table))) == [b"{c"]


def test_a_batch_that_is_replayed_after_the_purge_stays_as_it_is(table):
    """The manifest of a next generation says of the input what the one before said."""
    publish(table, 0, b"{a")
    before = data_files(table)
    purge(open_folder(table), None)

    target = publish(table, 0, b"{a")

    assert published(target, CommitKey("query-1", 0, "sink")).generation == 2
    assert data_files(table) == before
    assert rejects_files(table) == []


def test_what_a_purge_that_died_left_over_goes_with_the_next_one(table):
    target = publish(table, 0, b"{a")
    record = published(target, CommitKey("query-1", 0, "sink"))
    unnamed = replace(record, generation=2, files=[file for file in record.files if not file.rejects])
    target.table.create(commit_key(record.key, 2), unnamed.to_bytes())
    assert rejects_files(table) != []

    purge(open_folder(table), None)

    assert rejects_files(table) == []


def test_a_file_that_is_being_published_is_left_alone(table):
    publish(table, 0, b"{a")
    on_its_way = Path(table, "_rejects", "run-on-its-way.rejects")
    on_its_way.write_bytes(b"")
    purge(open_folder(table), None)
    assert rejects_files(table) == [on_its_way.name]


def test_a_driver_that_publishes_at_the_same_moment_wins(table):
    target = publish(table, 0, b"{a")
    folder = open_folder(table)
    record = published(target, CommitKey("query-1", 0, "sink"))
    target.table.create(commit_key(record.key, 2), replace(record, generation=2).to_bytes())

    with pytest.raises(TransientError, match="published at this moment"):
        purge(folder, None)

    assert raws(read_letters(open_folder(table))) == [b"{a"]


def test_a_folder_without_manifests_is_not_purged(tmp_path):
    publish(str(tmp_path / "table"), 0, b"{a", rejects=str(tmp_path / "aside"))
    with pytest.raises(ConfigError, match="purge the table with --rejects"):
        purge(open_folder(str(tmp_path / "aside")), None)


def test_letters_in_a_folder_of_their_own_are_purged_through_the_table(tmp_path):
    table, aside = str(tmp_path / "table"), str(tmp_path / "aside")
    publish(table, 0, b"{a", rejects=aside)
    purge(open_folder(table, aside), None)
    assert rejects_files(aside) == []


def test_nobody_is_asked_where_there_is_no_terminal(table):
    publish(table, 0, b"{a")
    with pytest.raises(ConfigError, match="pass --yes"):
        purge_command(table)
    assert rejects_files(table) != []
