"""Rows of a task go into files, or are read from the source again where there is no room for files."""

from __future__ import annotations

import errno
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gluepot.connectors.streams.rejects import NOWHERE
from gluepot.engine import row_files
from gluepot.engine.row_files import NoRoom, RowFolders, rewritten, write_rows
from gluepot.frames.chunk import Chunk

ROWS = [Chunk(pa.record_batch({"n": pa.array([1, 2])})), Chunk(pa.record_batch({"n": pa.array([3])}))]


@pytest.fixture
def folders(tmp_path):
    return RowFolders(str(tmp_path))


@pytest.fixture
def full_disk(monkeypatch):
    """More has to stay free than any disk has."""
    monkeypatch.setattr(row_files, "_SPARE_DISK_BYTES", 1 << 62)


def test_rows_are_in_files(folders):
    written = write_rows(ROWS, folders, NOWHERE.of_task(0))
    (file,) = written.files
    assert (written.records, file.rows, pq.read_table(file.path)["n"].to_pylist()) == (3, 3, [1, 2, 3])


def test_on_a_full_disk_there_are_no_files_and_the_schema_is_that_of_all_records(folders, full_disk):
    written = write_rows([*ROWS, Chunk(pa.record_batch({"m": pa.array(["x"])}))], folders, NOWHERE.of_task(0))
    assert (written.files, written.records, written.schema.names) == (None, 4, ["n", "m"])
    assert list(Path(folders.disk).iterdir()) == []


def test_a_disk_that_fills_up_later_is_noticed_too(folders, monkeypatch):
    monkeypatch.setattr(row_files, "GROUP_BYTES", 1)
    monkeypatch.setattr(RowFolders, "disk_is_full", lambda self: any(Path(self.disk).iterdir()))
    assert write_rows(ROWS, folders, NOWHERE.of_task(0)).files is None


@pytest.mark.parametrize(("number", "is_told"), [(errno.ENOSPC, False), (errno.EDQUOT, False), (errno.EIO, True)])
def test_a_write_that_fails_for_want_of_space_gives_up_and_any_other_is_an_error(folders, monkeypatch, number, is_told):
    def fail(*_, **__):
        raise OSError(number, "the disk")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    if is_told:
        with pytest.raises(OSError, match="the disk"):
            write_rows(ROWS, folders, NOWHERE.of_task(0))
    else:
        assert write_rows(ROWS, folders, NOWHERE.of_task(0)).files is None


def test_a_file_that_cannot_be_written_again_stays(folders, request):
    (file,) = write_rows(ROWS, folders, NOWHERE.of_task(0)).files
    request.getfixturevalue("full_disk")
    with pytest.raises(NoRoom):
        rewritten(file, pa.schema([("n", pa.float64())]), folders)
    assert Path(file.path).exists()
