from __future__ import annotations

from collections import Counter
from dataclasses import replace

from gluepot.core.datasets import Dataset
from gluepot.engine.account import Account, Reading, Writes
from gluepot.engine.write_totals import Output, Rejected, WrittenFile
from gluepot.job.summary import QueryTotals, Summary, lines, url_of
from gluepot.job.written import Written
from gluepot.streaming.progress import BatchStats

ACCOUNT = Account({"orders": Reading(4, 1, 3)}, Writes(1, 1))
ORDERS, LAKE = Dataset("file", "/data/orders"), Dataset("s3://lake", "orders")


def batch(number, rows, rejected=0, outputs=()):
    return BatchStats(
        query="orders",
        batch_id=number,
        window_secs=0.0,
        started_epoch=0.0,
        duration_secs=1.0,
        rows_in=rows,
        rejected={"malformed_json": rejected} if rejected else {},
        outputs=outputs,
    )


def test_batches_and_outputs_are_added_up():
    summary = Summary()
    summary.update(batch(0, 100, 2, [Output(ORDERS, 98, files=2)]))
    summary.update(batch(1, 50, 0, [Output(ORDERS, 50, files=1), Output(LAKE, 50, files=1)]))
    summary.add([Output(ORDERS, 1, files=1)], Rejected(Counter(cast_error=3), Counter({"/state/rejects": 3})), ACCOUNT)

    assert summary.queries == {"orders": QueryTotals(2, 150, 2)}
    assert summary.written == {ORDERS: Written(149, files=4), LAKE: Written(50, files=1)}
    assert summary.values(12.34) == {
        "secs": 12.3,
        "queries": {"orders": {"batches": 2, "records": 150, "rejected": 2}},
        "written": [
            {"where": "/data/orders", "rows": 149, "files": 4},
            {"where": "s3://lake/orders", "rows": 50, "files": 1},
        ],
        "rejected": {"malformed_json": 2, "cast_error": 3},
        "rejects_in": {"/state/rejects": 3},
        "values_nulled": 0,
        "account": ACCOUNT.to_plain(),
    }


def test_a_person_is_told_what_was_done_where_it_is_and_how_to_look_at_it():
    summary = Summary()
    file = WrittenFile("/data/orders", "_rejects/1.rejects", 400, 2, rejects=True)
    summary.update(replace(batch(0, 1500, 2, [Output(ORDERS, 1498, files=1)]), written=(file,)))

    assert lines(75.0, summary) == [
        "orders: 1 batch, 1,500 records read, 2 of them rejected.",
        "/data/orders: 1,498 rows in 1 file; list the files with `gluepot table files /data/orders`.",
        "2 records rejected and kept (malformed_json 2).",
        "2 records in /data/orders; list them with `gluepot dlq list /data/orders`.",
        "Done in 75 s.",
    ]


def test_records_that_a_database_keeps_are_told():
    summary = Summary()
    summary.add([], Rejected(Counter(cast_error=1)), Account())

    assert lines(1.0, summary) == [
        "1 record rejected and kept (cast_error 1).",
        "1 record in the table gluepot_rejects of the database.",
        "Done in 1 s.",
    ]


def test_values_that_became_null_are_told():
    summary = Summary()
    summary.update(replace(batch(0, 100), misfits={"price": 4, "at": 1}))
    assert lines(1.0, summary) == [
        "orders: 1 batch, 100 records read.",
        "orders: 5 values became null because they do not match the declared type; the log names the fields.",
        "Done in 1 s.",
    ]


def test_a_run_that_did_nothing_only_says_how_long_it_took():
    assert lines(3.0, Summary()) == ["Done in 3 s."]


def test_a_table_of_a_database_has_no_files_to_look_at():
    table = Dataset("postgres://host:5432", "shop.public.orders")
    assert lines(1.0, Summary(written={table: Written(3)}))[0] == "postgres://host:5432/shop.public.orders: 3 rows."
    assert url_of(LAKE) == "s3://lake/orders"


def test_values_without_a_type_are_told_with_their_target():
    summary = Summary()
    summary.add([Output(ORDERS, 3, files=1, untyped=2), Output(ORDERS, 1, untyped=1)], Rejected(), Account())
    assert lines(1.0, summary)[1:] == [
        "/data/orders: 3 values without a type, such as an empty list, became null; the log names the fields.",
        "Done in 1 s.",
    ]


def test_values_that_became_null_outside_of_streams_are_told():
    summary = Summary()
    summary.add([], Rejected(), Account(), nulled=2)
    told = "2 values became null because they do not match the declared type; the log names the fields."
    assert lines(1.0, summary) == [told, "Done in 1 s."]
