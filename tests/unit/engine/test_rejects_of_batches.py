"""Rejected records that no table keeps: counted once for each batch, whatever a script does with its frames."""

from __future__ import annotations

from collections import Counter

import pyarrow.parquet as pq

from gluepot.connectors.streams.rejects import rejects_file
from gluepot.connectors.values import dump_errors
from gluepot.engine.rejects import Rejects
from gluepot.engine.write_totals import WriteTotals, WrittenFile
from gluepot.frames.chunk import Coordinates, ErrorRecord


def error(position, raw=b"{", reason="malformed_json"):
    at = Coordinates() if position is None else Coordinates("clicks", "0", str(position))
    return ErrorRecord(raw, reason, "not JSON", at)


def keep(rejects, *errors, task=0, of_frame=None):
    with (of_frame or rejects.of_frame()).of_task(task) as aside:
        aside.add(errors)


def counted(rejects, *written):
    totals = WriteTotals(written=list(written))
    rejects.count(totals)
    return totals.rejected


def in_files(folder):
    files = sorted(folder.rglob("*.rejects"))
    return Counter(position for file in files for position in pq.read_table(file).column("position").to_pylist())


def test_the_records_of_all_tasks_count(tmp_path):
    rejects = Rejects(str(tmp_path), "query", 7)
    frame = rejects.of_frame()
    keep(rejects, error(1), error(2), of_frame=frame)
    keep(rejects, error(3, reason="cast_error"), task=1, of_frame=frame)

    assert counted(rejects) == {"malformed_json": 2, "cast_error": 1}
    assert len(list((tmp_path / "query/00000007").iterdir())) == 2


def test_a_frame_that_becomes_rows_twice_keeps_each_record_once(tmp_path):
    rejects = Rejects(str(tmp_path), "query", 0)
    keep(rejects, error(1), error(2))
    keep(rejects, error(1), error(2), error(3))

    assert counted(rejects) == {"malformed_json": 3}
    assert in_files(tmp_path) == {"1": 1, "2": 1, "3": 1}


def test_equal_records_without_a_position_are_as_many_as_one_frame_has(tmp_path):
    rejects = Rejects(str(tmp_path), "query", 0)
    keep(rejects, *[error(None)] * 5)
    keep(rejects, *[error(None)] * 7, error(None, b"["))

    assert counted(rejects) == {"malformed_json": 8}
    assert in_files(tmp_path) == {None: 8}


def test_the_rows_of_a_limit_add_nothing_to_those_of_the_whole_frame(tmp_path):
    rejects = Rejects(str(tmp_path), "query", 0)
    frame = rejects.of_frame()
    aside = frame.of_task(0)
    aside.__enter__()
    aside.add([error(1)])
    aside.__exit__(GeneratorExit, GeneratorExit(), None)
    keep(rejects, error(1), error(2), of_frame=frame)

    assert counted(rejects) == {"malformed_json": 2}
    assert in_files(tmp_path) == {"1": 1, "2": 1}


def test_records_that_a_table_keeps_are_not_kept_again(tmp_path):
    rejects = Rejects(str(tmp_path / "aside"), "query", 0)
    keep(rejects, error(1), error(2))
    (tmp_path / "t").write_bytes(rejects_file([dump_errors([error(2)])]))

    gone = WrittenFile(str(tmp_path), "of a table that the script has removed", 1, 1, rejects=True)
    assert counted(rejects, gone, WrittenFile(str(tmp_path), "t", 1, 1, rejects=True)) == {"malformed_json": 1}
    assert in_files(tmp_path / "aside") == {"1": 1}


def test_an_attempt_replaces_what_the_one_before_it_has_kept(tmp_path):
    rejects = Rejects(str(tmp_path), "query", 0)
    keep(rejects, error(1))
    rejects.begin_attempt()
    keep(rejects, error(2))

    assert counted(rejects) == {"malformed_json": 1}
    assert in_files(tmp_path) == {"2": 1}


def test_another_driver_replaces_them_too_and_other_batches_stay(tmp_path):
    keep(Rejects(str(tmp_path), "query", 0), error(1))
    keep(Rejects(str(tmp_path), "query", 1), error(5))
    again = Rejects(str(tmp_path), "query", 0)
    keep(again, error(1))

    assert counted(again) == {"malformed_json": 1}
    assert in_files(tmp_path) == {"1": 1, "5": 1}


def test_records_are_counted_once_however_often_a_run_looks(tmp_path):
    rejects, totals = Rejects(str(tmp_path), "job", 3), WriteTotals()
    keep(rejects, error(1))
    rejects.count(totals)
    keep(rejects, error(1), error(2))
    rejects.count(totals)
    rejects.count(totals)

    assert totals.rejected == {"malformed_json": 2}
    assert sum(file.rows for file in totals.written) == 2
    assert in_files(tmp_path) == {"1": 1, "2": 1}


def test_a_batch_without_rows_of_frames_looks_at_nothing(tmp_path):
    assert counted(Rejects(str(tmp_path / "missing"), "query", 0)) == {}
    assert not (tmp_path / "missing").exists()
