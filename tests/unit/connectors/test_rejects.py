import json
from collections import Counter
from contextlib import suppress

import duckdb

from gluepot.connectors.streams.rejects import RangeNames, RejectsAside, put_aside, rejects_root
from gluepot.connectors.values import SourceRange
from gluepot.core import logging
from gluepot.frames.chunk import Coordinates, ErrorRecord

RANGE = SourceRange("kafka", "clicks", "id", "3", 10, 20)


def error(position, reason="malformed_json"):
    return ErrorRecord(b"{", reason, "not JSON", Coordinates("clicks", "3", str(position)))


def names(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_the_folder_lies_below_the_checkpoint_unless_the_option_names_one():
    assert rejects_root(None, "s3://b/checkpoint/") == "s3://b/checkpoint/gluepot/rejects"
    assert rejects_root("s3://b/aside", "s3://b/checkpoint") == "s3://b/aside"
    assert rejects_root(None, None) is None


def test_the_records_of_a_range_are_one_file_named_after_it(tmp_path):
    with RejectsAside(str(tmp_path), RangeNames(RANGE)) as aside:
        aside.add([error(11)])
        aside.add([])
        aside.add([error(12), error(13, "null_value")])

    assert names(tmp_path) == ["clicks-3-10-20.rejects"]
    rows = duckdb.sql(f"SELECT raw, position, reason FROM read_parquet('{tmp_path}/*.rejects')").fetchall()
    assert rows == [(b"{", "11", "malformed_json"), (b"{", "12", "malformed_json"), (b"{", "13", "null_value")]


def test_writing_a_range_again_leaves_one_copy(tmp_path):
    for _ in range(2):
        with RejectsAside(str(tmp_path), RangeNames(RANGE), file_bytes=1) as aside:
            aside.add([error(11)])
            aside.add([error(12)])

    assert names(tmp_path) == ["clicks-3-10-20.1.rejects", "clicks-3-10-20.rejects"]
    assert sum((one.by_reason for one in put_aside(str(tmp_path), [RANGE])), Counter()) == {"malformed_json": 2}


def test_a_range_without_errors_leaves_no_file_and_says_nothing(tmp_path, capsys):
    logging.configure(json=True)
    with RejectsAside(str(tmp_path), RangeNames(RANGE)) as aside:
        aside.add([])

    assert (names(tmp_path), capsys.readouterr().err) == ([], "")
    assert put_aside(str(tmp_path), [RANGE]) == []


def test_a_range_that_fails_half_way_completes_nothing(tmp_path):
    with suppress(RuntimeError), RejectsAside(str(tmp_path), RangeNames(RANGE)) as aside:
        aside.add([error(11)])
        raise RuntimeError

    assert names(tmp_path) == []


def test_without_a_folder_the_records_are_left_out_with_a_warning(capsys):
    logging.configure(json=True)
    with RejectsAside(None, RangeNames(RANGE)) as aside:
        aside.add([error(11)])

    said = json.loads(capsys.readouterr().err)
    assert (said["msg"], said["reasons"]) == ("records_rejected", {"malformed_json": 1})
    assert "rejectsPath" in said["kept"]
