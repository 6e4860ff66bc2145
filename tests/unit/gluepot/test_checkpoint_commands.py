"""`gluepot checkpoint` as a person calls it, on folders made by hand."""

import json
from pathlib import Path

import pytest

from gluepot.cli.main import main
from gluepot.commit import live, place_digest
from gluepot.commit.record import CommitRecord, FileEntry
from gluepot.connectors.files.sink.layout import commit_key
from gluepot.connectors.kafka.positions import split
from gluepot.connectors.streams.start import read_start
from gluepot.connectors.values import CommitKey
from gluepot.core.clock import SystemClock
from gluepot.core.storage import open_storage
from gluepot.streaming.checkpoints import lease
from tests.unit.checkpoints.made import QUERY, checkpoint, positions


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "ck", checkpoint(10))


@pytest.fixture
def table(tmp_path):
    place = place_digest(str(tmp_path / "table"))
    records = [
        CommitRecord(
            CommitKey(QUERY, n, "sink", place),
            1,
            files=[FileEntry(f"{n}.parquet", 1, 1, 0, rejects=False, encoding={"format": "parquet"})],
            ranges=split(held),
        )
        for n, held in enumerate(positions(10))
    ]
    return write(tmp_path / "table", {commit_key(one.key, 1): one.to_bytes() for one in records})


def write(folder: Path, files):
    for key, data in files.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(data)
    return folder


def files(folder: Path):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def gluepot(capsys):
    def call(*tokens):
        with pytest.raises(SystemExit) as ended:
            main(["checkpoint", *map(str, tokens)])
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return call


def test_show_explains_every_file(gluepot, folder):
    (folder / "offsets" / ".9.x.tmp").touch()
    code, out, _ = gluepot("show", folder, "--output", "json")
    about = json.loads(out)
    assert code == 0
    assert {one["file"] for one in about["files"]} == set(files(folder))
    assert (about["query_id"], about["committed"], about["lease"]) == (QUERY, {"oldest": 0, "newest": 9}, None)
    assert [(one["partition"], one["start"], one["end"]) for one in about["offsets"]] == [(0, 27, 30), (1, 18, 20)]
    assert [one["file"] for one in about["findings"]] == ["offsets/.9.x.tmp"]


def test_show_says_in_words_where_the_next_run_goes_on(gluepot, folder):
    _, out, _ = gluepot("show", folder)
    assert "next       batch 10 is planned from the end of batch 9" in out
    assert "batch 9      t partition 0: 27 to 30" in out
    (folder / "commits" / "9").unlink()
    assert "next       batch 9 runs again with the records its entry names" in gluepot("show", folder)[1]


def test_doctor_ends_with_0_when_the_next_run_goes_on_exactly_and_with_3_when_not(gluepot, folder):
    assert gluepot("doctor", folder)[:2] == (0, f"{folder} is sound\n")
    (folder / "offsets" / "9").write_bytes(b"")
    code, out, _ = gluepot("doctor", folder)
    assert code == 3
    assert "fault   offsets/9 is empty" in out


def test_doctor_changes_nothing_without_consent(gluepot, folder):
    (folder / "offsets" / "9").write_bytes(b"")
    before = files(folder)
    assert gluepot("doctor", folder, "--repair", "--dry-run")[0] == 3
    code, _, err = gluepot("doctor", folder, "--repair")
    assert (code, files(folder)) == (2, before)
    assert "--yes" in err


def test_doctor_mends_with_a_copy_of_what_it_touches(gluepot, folder, table):
    (folder / "offsets" / "9").write_bytes(b"v1")
    code, out, _ = gluepot("doctor", folder, "--table", table, "--repair", "--yes", "--output", "json")
    told = json.loads(out)
    assert (code, told["findings"]) == (0, [])
    assert [one["file"] for one in told["repaired"]] == ["offsets/9"]
    assert (folder / told["backup"] / "offsets" / "9").read_bytes() == b"v1"


def test_a_running_query_keeps_its_checkpoint(gluepot, folder, table):
    (folder / "offsets" / ".x.tmp").touch()
    with lease.take(open_storage(str(folder)), SystemClock()):
        assert gluepot("doctor", folder, "--repair", "--yes")[0] == 4
        code, _, err = gluepot("rewind", folder, "--from-table", table, "--yes")
        assert code == 4
        assert "runs this query" in err
        assert gluepot("rewind", folder, "--from-table", table, "--dry-run")[0] == 0
    assert gluepot("rewind", folder, "--from-table", table, "--yes")[0] == 0


def test_rewind_to_the_table_tells_what_happens_to_each_partition(gluepot, folder, table):
    code, out, _ = gluepot("rewind", folder, "--from-table", table, "--yes", "--output", "json")
    told = json.loads(out)
    assert (code, told["done"]) == (0, True)
    assert [(one["before"], one["after"]) for one in told["partitions"]] == [(30, 30), (20, 20)]
    assert read_start(open_storage(str(folder))).ends() == {("t", 0): 30, ("t", 1): 20}


def test_rewind_of_a_checkpoint_that_is_gone(gluepot, tmp_path, table):
    gone = tmp_path / "gone"
    assert gluepot("rewind", gone, "--from-table", table, "--yes")[0] == 0
    assert read_start(open_storage(str(gone))).ends() == {("t", 0): 30, ("t", 1): 20}


def test_a_rewind_to_the_table_leaves_out_a_batch_that_has_not_ended(gluepot, folder, table):
    (folder / "commits" / "9").unlink()
    before = files(table)
    code, _, err = gluepot("rewind", folder, "--from-table", table, "--yes")
    assert (code, files(table)) == (2, before)
    assert "Batch 9 has begun and not ended" in err
    code, out, _ = gluepot("rewind", folder, "--from-table", table, "--drop-unfinished", "--yes")
    assert code == 0
    assert "t partition 0 goes from 27 to 27: no change" in out
    assert read_start(open_storage(str(folder))).ends() == {("t", 0): 27, ("t", 1): 18}
    ended = next(one for one in live(open_storage(str(table))) if one.key.batch_id == 9)
    assert (ended.files, list(ended.ranges)) == ([], [])


def test_rewind_to_a_batch_and_to_offsets(gluepot, folder):
    assert "t partition 0 goes from 30 to 24: 6 read again" in gluepot("rewind", folder, "--to-batch", 7, "--yes")[1]
    assert gluepot("doctor", folder)[0] == 0
    code, out, _ = gluepot("rewind", folder, "--to-offsets", '{"t":{"0":29}}', "--dry-run")
    assert (code, out) == (0, "t partition 0 goes from 24 to 29: 5 skipped\nnothing was changed\n")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "exactly one of"),
        (["--to-batch", "3", "--to-offsets", "{}"], "exactly one of"),
        (["--to-batch", "30"], "can go back to batches 0 to 9"),
        (["--to-timestamp", "2026-01-01T00:00:00Z"], "--bootstrap HOST:PORT"),
        (["--from-table", "/nowhere/at/all"], "has no manifest"),
    ],
)
def test_a_rewind_that_says_nothing_clear_is_refused(gluepot, folder, options, says):
    before = {key: data for key, data in files(folder).items() if "lease" not in key}
    code, _, err = gluepot("rewind", folder, *options, "--yes")
    assert code == 2
    assert says in err
    assert {key: data for key, data in files(folder).items() if "lease" not in key} == before


def test_an_export_is_brought_into_an_empty_place_only(gluepot, folder, tmp_path):
    out = tmp_path / "export.json"
    assert gluepot("export", folder, "--to", out)[0] == 0
    assert gluepot("import", tmp_path / "new", out, "--dry-run")[0] == 0
    assert not (tmp_path / "new").exists()
    assert gluepot("import", tmp_path / "new", out, "--yes")[0] == 0
    assert gluepot("doctor", tmp_path / "new")[0] == 0
    assert "is not empty" in gluepot("import", folder, out, "--yes")[2]
    assert "There is no file" in gluepot("import", tmp_path / "x", tmp_path / "none", "--yes")[2]


def test_a_torn_lease_is_named_by_show_and_doctor(gluepot, folder):
    write(folder, {"gluepot/lease/3.json": b'{"number": 3, "tok'})
    assert "fault   gluepot/lease/3.json (18 bytes) does not name an owner" in gluepot("show", folder)[1]
    assert gluepot("doctor", folder)[0] == 3
