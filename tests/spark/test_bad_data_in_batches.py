"""What a batch job says and keeps if its data or its options are bad."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import Row

from awsglue import DynamicFrame
from awsglue.transforms import ApplyMapping, Filter
from gluepot.bookmarks import jobrun
from gluepot.bookmarks.ledger import ledger_url, open_ledger
from gluepot.core.clock import SystemClock
from gluepot.core.errors import PermanentError
from gluepot.core.on_malformed import OnMalformed
from gluepot.core.storage import open_storage
from gluepot.engine.account import Account, Reading, Writes
from gluepot.engine.readings import READINGS
from gluepot.tables.verify import verify


def put(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder


def kept(folder: Path) -> Counter[bytes]:
    files = [str(file) for file in folder.rglob("*.rejects")]
    return (
        Counter(row[0] for row in duckdb.sql(f"SELECT raw FROM read_parquet({files!r})").fetchall())
        if files
        else Counter()
    )


MIXED = "".join(json.dumps({"id": n, "country": "DE"}) + "\n" for n in range(20)) + '{"id": 7,\n{"id"\n'
BROKEN = {b'{"id": 7,': 1, b'{"id"': 1}


@pytest.mark.parametrize("bookmarks", [True, False])
def test_records_that_a_dataframe_cannot_hold_are_kept_in_the_state_folder(
    job, read, write, writers, glue_context, tmp_path, bookmarks
):
    run = job(bookmarks=bookmarks)
    frame = read(put(tmp_path / "in", "a.json", MIXED))
    assert frame.toDF().count() == 20
    write(DynamicFrame.fromDF(frame.toDF().filter("id > 9"), glue_context, "some"))
    run.commit()

    assert kept(tmp_path / "state/rejects/copy") == BROKEN
    assert sum(writers.rejected().by_reason.values()) == 2
    assert writers.rejected().by_folder == {str(tmp_path / "state/rejects/copy"): 2}


def test_they_are_below_the_temporary_folder_of_the_job_and_a_retry_keeps_them_once(
    job, read, write, writers, glue_context, tmp_path
):
    put(tmp_path / "in", "a.json", MIXED)
    for attempt in range(2):
        run = job(TempDir=str(tmp_path / "temp"))
        write(DynamicFrame.fromDF(read(tmp_path / "in").toDF(), glue_context, "all"))
        if attempt:
            run.commit()
        else:
            jobrun.end("the first attempt dies")

    assert kept(tmp_path / "temp") == BROKEN


def test_a_table_that_is_written_directly_keeps_its_own(job, read, write, writers, tmp_path):
    run = job()
    write(read(put(tmp_path / "in", "a.json", MIXED)))
    run.commit()

    assert kept(tmp_path / "out") == BROKEN
    assert not any((tmp_path / "state/rejects").iterdir())
    assert writers.rejected().by_folder == {str(tmp_path / "out"): 2}


def test_options_of_a_format_that_mean_nothing_are_named(read, write, said, tmp_path):
    folder = put(tmp_path / "in", "a.csv", "id;country\n1;DE\n")
    read(folder, "csv", seperator=";", withHeader=True, optimizePerformance=True).toDF()

    assert said()["option_ignored"].items() >= {"option": "seperator", "hint": "Did you mean 'separator'?"}.items()


@pytest.mark.parametrize(("form", "wrong", "right"), [
    ("csv", "withheader", "withHeader"),
    ("json", "multiline_", "multiLine"),
    ("xml", "attributeprefix", "attributePrefix"),
])  # fmt: skip
def test_each_format_knows_its_options(read, said, tmp_path, form, wrong, right):
    more = {"rowTag": "r"} if form == "xml" else {}
    read(tmp_path / "missing", form, **{wrong: "true"}, **more).toDF()

    assert said()["option_ignored"]["hint"] == f"Did you mean '{right}'?"


def test_options_of_a_written_format_too(glue_context, read, said, tmp_path):
    frame = read(put(tmp_path / "in", "a.json", MIXED))
    for _ in range(2):
        glue_context.write_dynamic_frame.from_options(
            frame, "s3", {"path": str(tmp_path / "out")}, format="glueparquet", format_options={"compresion": "gzip"}
        )

    assert said()["option_ignored"].items() >= {"option": "compresion", "hint": "Did you mean 'compression'?"}.items()


def test_a_partition_key_that_no_row_has_is_named_with_the_nearest_column(read, write, said, tmp_path):
    write(read(put(tmp_path / "in", "a.json", MIXED)), partitionKeys=["coutnry"])

    warned = said()["all_rows_in_the_default_partition"]
    assert (warned["of"], warned["hint"], warned["records"]) == (
        "coutnry",
        "no row has this column. Did you mean 'country'?",
        20,
    )


def test_a_mapping_of_a_field_that_no_record_has_is_named(read, write, said, tmp_path):
    frame = read(put(tmp_path / "in", "a.json", MIXED))
    mappings = [("id", "int", "id", "int"), ("coutnry", "string", "country", "string")]
    write(ApplyMapping.apply(frame=frame, mappings=mappings, transformation_ctx="mapped"))

    assert said()["field_not_found"].items() >= {"of": "coutnry", "hint": "Did you mean 'country'?"}.items()


def test_a_file_of_another_encoding_is_named(read, write, said, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.csv").write_bytes(b"id,city\n" + "1,Köln\n".encode("latin-1") * 20)
    write(read(tmp_path / "in", "csv", withHeader=True))

    warned = said()["most_records_rejected"]
    assert (warned["of"], warned["records"]) == ("invalid_utf8", 20)
    assert "not UTF-8" in warned["hint"]


@pytest.mark.parametrize("encoding", ["latin-1", "UTF-16", "utf-16-le"])
@pytest.mark.parametrize(("form", "text"), [("csv", "größe\nKöln\n"), ("json", '{"größe": "Köln"}\n')])
def test_a_file_is_read_in_the_encoding_that_the_script_says(read, said, tmp_path, form, text, encoding):
    (tmp_path / "in").mkdir()
    (tmp_path / f"in/a.{form}").write_bytes(text.encode(encoding))
    options = {"withHeader": True} if form == "csv" else {}

    assert read(tmp_path / "in", form, encoding=encoding, **options).toDF().collect() == [Row(größe="Köln")]
    assert said() == {}
    if form == "csv":
        read(tmp_path / "in", form, **options).toDF()
        assert "set encoding" in said()["header_is_not_utf8"]["hint"]


def test_a_path_without_files_is_named(read, said, tmp_path):
    read(tmp_path / "missing").toDF()

    assert said()["no_files_found"].items() >= {"path": str(tmp_path / "missing"), "hint": "check the path"}.items()


def test_the_columns_of_a_header_without_rows_are_known(read, glue_context, tmp_path):
    frame = read(put(tmp_path / "in", "a.csv", "id,country\n"), "csv", withHeader=True)
    frame.toDF().createOrReplaceTempView("nothing")

    assert glue_context.spark_session.sql("SELECT id, upper(country) FROM nothing").count() == 0


def test_a_run_without_new_files_has_the_columns_of_the_last_one(job, read, glue_context, tmp_path):
    put(tmp_path / "in", "a.json", '{"id": 1, "tags": [{"n": 2.5}]}\n')
    for rows in (1, 0, 0):
        run = job()
        read(tmp_path / "in").toDF().createOrReplaceTempView("orders")
        assert glue_context.spark_session.sql("SELECT id + 1, tags[0].n FROM orders").count() == rows
        run.commit()


def accounts(job_name):
    ledger = open_ledger(ledger_url(os.environ), SystemClock())
    found = [Account.of_plain(json.loads(run.account)) for run in ledger.runs(job_name)]
    ledger.close()
    return found


def test_each_record_is_in_the_account_once_however_often_it_is_read(job, read, write, glue_context, tmp_path):
    run = job()
    frame = read(put(tmp_path / "in", "a.json", MIXED), ctx="orders")
    write(Filter.apply(frame=frame, f=lambda row: row["id"] > 4, transformation_ctx="some"))
    rows = frame.toDF()
    assert rows.count() == rows.filter("id >= 0").count() == 20
    write(DynamicFrame.fromDF(rows.limit(3), glue_context, "three"))
    run.commit()

    assert accounts("copy") == [Account({"orders": Reading(22, 20, 2)}, Writes(18, 18))]


def test_a_run_that_reads_nothing_has_an_account_too(job, read, tmp_path):
    run = job()
    read(tmp_path / "missing", ctx="orders").toDF()
    run.commit()

    assert accounts("copy")[0].writes == Writes()


@pytest.mark.parametrize("through_rows", [True, False])
def test_malformed_records_are_dropped_and_counted_if_the_job_says_so(
    job, read, write, writers, setting, glue_context, tmp_path, through_rows
):
    setting(on_malformed=OnMalformed.DROP)
    run = job()
    frame = read(put(tmp_path / "in", "a.json", MIXED), ctx="orders")
    write(DynamicFrame.fromDF(frame.toDF(), glue_context, "rows") if through_rows else frame)
    run.commit()

    assert accounts("copy") == [Account({"orders": Reading(22, 20, 0, 2)}, Writes(20, 20))]
    assert (kept(tmp_path), writers.rejected().by_reason) == (Counter(), Counter())
    assert verified(str(tmp_path / "out")) == []


@pytest.mark.parametrize("through_rows", [True, False])
def test_a_malformed_record_ends_a_job_that_says_so_and_nothing_is_published(
    job, read, write, setting, glue_context, tmp_path, through_rows
):
    setting(on_malformed=OnMalformed.FAIL)
    job()
    frame = read(put(tmp_path / "in", "a.json", MIXED))
    with pytest.raises(Exception, match=r"a\.json, position 550: .*--on-malformed"):
        write(DynamicFrame.fromDF(frame.toDF(), glue_context, "rows") if through_rows else frame)

    assert duckdb.sql(f"SELECT count(*) FROM glob('{tmp_path}/out/*.parquet')").fetchall() == [(0,)]


def test_a_strict_job_ends_before_it_publishes_what_looks_like_a_mistake(job, read, write, setting, tmp_path):
    setting(is_strict=True)
    job()
    with pytest.raises(PermanentError, match=r"All 20 rows are in the default partition of 'coutnry' \(no row"):
        write(read(put(tmp_path / "in", "a.json", MIXED)), partitionKeys=["coutnry"])

    assert list((tmp_path / "out").rglob("*.parquet")) == []


def verified(table):
    return list(verify(open_storage(table), None).findings)


@pytest.mark.parametrize("use", [
    lambda frame: frame.count(),
    lambda frame: frame.show(1),
    lambda frame: frame.errorsCount(),
    lambda frame: frame.schema(),
    lambda frame: frame.toDF().columns,
    lambda frame: Filter.apply(frame=frame, f=lambda row: row["id"] > 4).count(),
])  # fmt: skip
@pytest.mark.parametrize("bookmarks", [True, False])
def test_records_of_a_frame_that_is_never_written_are_kept_once(job, read, write, writers, tmp_path, use, bookmarks):
    run = job(bookmarks=bookmarks)
    use(read(put(tmp_path / "in", "a.json", MIXED), ctx="orders"))
    run.commit()

    assert kept(tmp_path / "state/rejects/copy") == BROKEN
    assert writers.account().sources["orders"].rejected == sum(writers.rejected().by_reason.values()) == 2


def test_a_frame_that_is_counted_and_written_is_read_twice_and_not_once_more(job, read, write, writers, tmp_path):
    run = job()
    frame = read(put(tmp_path / "in", "a.json", MIXED))
    frame.count()
    write(frame)
    read_before = READINGS.records_and_bytes()[0]
    run.commit()

    assert READINGS.records_and_bytes()[0] == read_before
    assert not any((tmp_path / "state/rejects").iterdir())


def test_error_records_that_are_written_as_rows_arrive_and_are_written(job, read, write, writers, tmp_path):
    put(tmp_path / "in", "a.json", MIXED)
    for _ in range(2):
        job()
        write(read(tmp_path / "in", ctx="orders").errorsAsDynamicFrame())
        jobrun.end("the attempt dies")

    assert writers.account().to_plain() == {
        "sources": {"orders": {"read": 22, "delivered": 20, "rejected": 2, "left_out": 0}},
        "writes": {"arrived": 4, "written": 2, "refused": 0, "skipped": 2},
    }
    assert verified(str(tmp_path / "out")) == []


def test_a_bookmark_does_not_move_past_files_of_which_every_read_failed(job, read, write, said, tmp_path):
    put(tmp_path / "in", "a.json", MIXED)
    (tmp_path / "in/b.json.gz").write_bytes(gzip.compress(b'{"id": 1}\n' * 90)[:-9])
    put(tmp_path / "other", "a.json", MIXED)
    for _ in range(2):
        run = job()
        with pytest.raises(PermanentError, match="damaged"):
            write(read(tmp_path / "in", ctx="orders"))
        read(tmp_path / "other", ctx="other").count()
        run.commit()

        assert said()["bookmark_not_moved"]["ctx"] == "orders"

    (tmp_path / "in/b.json.gz").unlink()
    run = job()
    frame = read(tmp_path / "in", ctx="orders")
    assert (frame.count(), read(tmp_path / "other", ctx="other").count()) == (20, 0)
    run.commit()
    assert "bookmark_not_moved" not in said()


def test_a_source_that_the_script_does_not_use_is_named(job, read, said, tmp_path):
    put(tmp_path / "in", "a.json", MIXED)
    for events in ({"source_not_used"}, set()):
        run = job()
        read(tmp_path / "in", ctx="orders")
        run.commit()

        assert said().keys() & {"source_not_used"} == events


@pytest.mark.parametrize("use", [
    lambda frame, write: frame.union(frame).count(),
    lambda frame, write: frame.repartition(3).count(),
    lambda frame, write: write(frame.union(frame)),
    lambda frame, write: write(frame.coalesce(1)),
    lambda frame, write: frame.relationalize("root", "unused").select("root").count(),
])  # fmt: skip
def test_records_of_frames_that_were_spread_anew_are_kept_whether_they_are_written_or_not(
    job, read, write, writers, tmp_path, use
):
    run = job()
    use(read(put(tmp_path / "in", "a.json", MIXED), ctx="orders"), write)
    run.commit()

    files = [*(tmp_path / "out").rglob("*.rejects"), *(tmp_path / "state/rejects").rglob("*.rejects")]
    assert kept(tmp_path).keys() == BROKEN.keys()
    assert len({file.parent for file in files}) == 1


def test_a_write_that_failed_is_named_if_the_script_goes_on(job, read, write, said, tmp_path):
    run = job()
    frame = read(put(tmp_path / "in", "a.json", MIXED), ctx="orders")
    put(tmp_path, "file", "this is not a folder")
    with pytest.raises(Exception, match="file"):
        write(frame, path=str(tmp_path / "file"))
    write(frame)
    run.commit()

    assert said()["write_failed"]["target"] == str(tmp_path / "file")
