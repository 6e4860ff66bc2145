from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gluepot.commit import Target, live, recover
from gluepot.commit.history import every
from gluepot.commit.record import CommitRecord
from gluepot.connectors.files.sink.layout import COMMITS, commit_key
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import ConfigError
from gluepot.core.storage import LocalStorage
from gluepot.tables.file_check import file_finding
from gluepot.tables.files import table_files
from gluepot.tables.findings import count_findings
from gluepot.tables.verify import Verification, verify
from tests.unit.tables.tables import Writer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "table"


def found(folder: Path, rejects: Path | None = None) -> Verification:
    return verify(LocalStorage(folder), LocalStorage(rejects) if rejects else None)


def kinds(verification: Verification) -> list[str]:
    return [one.kind for one in verification.findings]


def data_file(folder: Path) -> Path:
    (file,) = (path for path in folder.rglob("run-*") if "_rejects" not in path.parts)
    return file


@pytest.mark.parametrize("name", ["glueparquet", "json", "csv"])
def test_a_whole_table_is_clean(folder, name):
    writer = Writer(str(folder), name, partition_keys=["k"])
    writer.publish(0, [{"a": 1, "k": "x"}, {"a": 2, "k": None}], bad=[b"{"])
    writer.publish(1)
    writer.publish(2, [{"a": 3, "k": "x"}])
    writer.publish(2, [{"a": 3, "k": "x"}, {"a": 4, "k": "x"}], start=3)
    verification = found(folder)
    assert verification.findings == []
    assert (verification.commits, verification.files, verification.rows, verification.rejected) == (3, 4, 4, 1)
    assert [(one.start, one.end) for one in verification.coverage] == [(0, 5)]


def damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        (Path.unlink, "missing"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "size"),
        (lambda path: path.write_bytes(path.read_bytes() + b"x"), "size"),
        (damaged, "checksum"),
    ],
)
@pytest.mark.parametrize("name", ["glueparquet", "json"])
def test_a_damaged_file_is_a_finding(folder, name, damage, kind):
    writer = Writer(str(folder), name)
    writer.publish(0, [{"a": 1}])
    damage(data_file(folder))
    (finding,) = found(folder).findings
    assert (finding.kind, finding.where) == (kind, data_file(folder).name if kind != "missing" else finding.where)


def test_a_damaged_file_of_rejected_records_is_a_finding(folder):
    Writer(str(folder)).publish(0, bad=[b"{"])
    damaged(next((folder / "_rejects").iterdir()))
    assert kinds(found(folder)) == ["checksum"]


def replaced_manifest(folder: Path, **change: object) -> None:
    """Put a manifest in place that agrees with the bytes of its file and contradicts what is in it."""
    (record,) = every(LocalStorage(folder))
    data = data_file(folder).read_bytes()
    (file,) = record.files
    changed = replace(record, files=[replace(file, size_bytes=len(data), crc32=crc32(data))], **change)
    (folder / commit_key(record.key, 1)).write_bytes(changed.to_bytes())


def test_a_file_with_other_rows_than_its_manifest_says_is_a_finding(folder):
    Writer(str(folder)).publish(0, [{"a": 1}])
    pq.write_table(pa.table({"a": [1, 2]}), data_file(folder))
    replaced_manifest(folder)
    (finding,) = found(folder).findings
    assert finding.message.endswith("holds 2 records, its manifest says 1")


def test_a_file_that_was_no_table_file_when_it_was_published_is_a_finding(folder):
    Writer(str(folder)).publish(0, [{"a": 1}])
    data_file(folder).write_bytes(b"not parquet")
    replaced_manifest(folder)
    assert kinds(found(folder)) == ["unreadable"]


def test_numbers_that_do_not_add_up_are_findings(folder):
    Writer(str(folder)).publish(0, [{"a": 1}])
    replaced_manifest(folder, rows_in=5, rows_out=2, rejected={"x": 1})
    assert [one.message for one in found(folder).findings] == [
        "batch 0 of query q1 says 2 rows and its files hold 1",
        "batch 0 of query q1 says 1 rejected records and its files hold 0",
        "batch 0 of query q1 read 5 records, wrote 2, rejected 1 and left out 0",
    ]


def test_records_that_the_script_left_out_are_counted():
    record = CommitRecord(CommitKey("q1", 0, ""), 1, rows_in=5, rows_dropped=5)
    assert list(count_findings(record)) == []


@pytest.mark.parametrize("name", ["stray.parquet", "k=1/stray", "_rejects/stray.rejects"])
def test_a_file_that_no_manifest_names_is_a_finding(folder, name):
    Writer(str(folder)).publish(0, [{"a": 1}])
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"")
    (finding,) = found(folder).findings
    assert (finding.kind, finding.where) == ("unknown_file", name)


@pytest.mark.parametrize("name", ["_SUCCESS", ".part.crc", "_delta_log/0.json", "_rejects/.part.crc"])
def test_files_that_readers_leave_out_are_none(folder, name):
    Writer(str(folder)).publish(0, [{"a": 1}])
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"")
    assert found(folder).findings == []


def test_a_file_of_a_replaced_generation_is_a_finding(folder):
    writer = Writer(str(folder))
    writer.publish(0, [{"a": 1}])
    old = data_file(folder)
    content = old.read_bytes()
    writer.publish(0, [{"a": 1}, {"a": 2}], start=0)
    old.write_bytes(content)
    (finding,) = found(folder).findings
    assert (finding.kind, finding.where) == ("superseded_file", old.name)


class Died(BaseException):
    """The driver dies here."""


@dataclass(frozen=True)
class Dying(LocalStorage):
    after_create: bool = False

    def create(self, key: str, data: bytes) -> bool:
        if not key.startswith(f"{COMMITS}/"):
            return super().create(key, data)
        if self.after_create:
            super().create(key, data)
        raise Died


@pytest.mark.parametrize("after_create", [False, True])
def test_what_a_driver_that_died_left_is_said_and_no_finding(folder, after_create):
    """The file it moved, or that of the generation it replaced, until the next start of the job settles it."""
    writer = Writer(str(folder))
    writer.publish(0, [{"a": 1}])
    writer.storage = Dying(folder, after_create=after_create)
    with pytest.raises(Died):
        writer.publish(0, [{"a": 1}, {"a": 2}], start=0)
    verification = found(folder)
    assert verification.findings == []
    assert len(verification.unfinished) == 1
    recover(Target(LocalStorage(folder), LocalStorage(folder)), "q1", 0)
    assert (found(folder).findings, found(folder).unfinished) == ([], [])


def test_rejected_records_in_another_folder_are_checked_when_it_is_named(folder, tmp_path):
    elsewhere = tmp_path / "bad"
    Writer(str(folder), rejects_path=str(elsewhere)).publish(0, [{"a": 1}], bad=[b"{"])
    (file,) = elsewhere.rglob("*.rejects")
    damaged(file)
    assert (found(folder).findings, len(found(folder).unchecked)) == ([], 1)
    assert kinds(found(folder, elsewhere)) == ["checksum"]


def test_gaps_and_overlaps_are_findings(folder):
    writer = Writer(str(folder))
    writer.publish(0, [{"a": 1}, {"a": 2}])
    writer.publish(1, [{"a": 2}], start=1)
    writer.publish(3, [{"a": 3}], start=7)
    assert kinds(found(folder)) == ["gap", "overlap"]


def test_a_folder_without_manifests_is_no_table(folder):
    with pytest.raises(ConfigError, match="is not a table"):
        found(folder)


@pytest.mark.parametrize("is_replaced", [True, False], ids=["replaced", "gone"])
def test_a_file_that_goes_while_it_is_read_is_not_called_unreadable(folder, is_replaced):
    writer = Writer(str(folder))
    writer.publish(0, [{"a": 1}])

    class Meanwhile(LocalStorage):
        """The file goes when its checksum was compared, before its rows are counted."""

        def reader(self, key):
            opened = super().reader(key)
            if is_replaced:
                writer.publish(0, [{"a": 1}, {"a": 2}])
            elif (folder / key).exists():
                (folder / key).unlink()
            return opened

    storage = Meanwhile(folder)
    (file,) = table_files(live(storage), ())
    found = file_finding(storage, storage, file)
    assert (found and found.kind) == (None if is_replaced else "missing")
