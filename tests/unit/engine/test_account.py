import pytest

from gluepot.engine.account import Account, Reading, Writes
from gluepot.engine.readings import Readings
from gluepot.engine.write_totals import WriteTotals
from gluepot.streaming.query.batch_account import batch_account

GOOD = Account({"orders": Reading(10, 7, 2, 1)}, Writes(8, 5, 1, 2))


def test_balances_that_hold_have_no_fault():
    assert list(GOOD.imbalances()) == []
    assert list((GOOD + GOOD).imbalances()) == []


@pytest.mark.parametrize(
    ("account", "fault"),
    [
        (
            Account({"orders": Reading(10, 7, 2)}),
            "orders: 10 records read = 7 delivered + 2 rejected and kept do not add up",
        ),
        (
            Account(writes=Writes(3, 1, 1)),
            "writes: 3 rows arrived = 1 written + 1 refused and kept do not add up",
        ),
    ],
)
def test_a_balance_that_does_not_hold_is_told(account, fault):
    assert list(account.imbalances()) == [fault]


def test_a_person_reads_what_is_not_zero():
    assert list(GOOD.lines()) == [
        "orders: 10 records read = 7 delivered + 2 rejected and kept + 1 left out because they are malformed.",
        "Writes: 8 rows arrived = 5 written + 1 refused and kept + 2 written by an earlier attempt.",
    ]


def test_an_account_is_kept_as_plain_values():
    assert Account.of_plain(GOOD.to_plain()) == GOOD


def test_sources_of_the_same_name_are_added():
    both = GOOD + Account({"orders": Reading(1, 1), "prices": Reading(2, 2)})

    assert both.sources == {"orders": Reading(11, 8, 2, 1), "prices": Reading(2, 2)}
    assert both.read == Reading(13, 10, 2, 1)


def test_a_source_that_is_read_twice_counts_once():
    readings = Readings()
    orders = readings.named("run", "orders")
    for tasks in ([Reading(3, 3), Reading(2, 1, 1)], [Reading(3, 3)]):
        count = readings.in_driver(orders)
        for task, read in enumerate(tasks):
            count(task, read)

    assert readings.of_scope("run") == {"orders": Reading(5, 4, 1)}
    assert readings.records_and_bytes()[0] == 8


def test_a_task_that_runs_twice_counts_once_with_the_run_that_read_most():
    readings = Readings()
    count = readings.in_driver(readings.named("run", "orders"))
    count(0, Reading(2, 2))
    count(0, Reading(5, 5))
    count(0, Reading(3, 3))

    assert readings.of_scope("run") == {"orders": Reading(5, 5)}


def test_reads_of_one_name_are_added_and_other_scopes_are_not():
    readings = Readings()
    for scope in ("run", "run", "batch/7"):
        readings.in_driver(readings.named(scope, "orders"))(0, Reading(2, 2))

    assert readings.take("run") == {"orders": Reading(4, 4)}
    assert readings.take("run") == {}
    assert readings.take("batch/7") == {"orders": Reading(2, 2)}
    assert readings.records_and_bytes()[0] == 6


def test_inputs_that_are_no_sources_only_count_in_all_that_was_read():
    readings = Readings()
    for _ in range(2):
        readings.in_driver(None)(0, Reading(2, 2))

    assert readings.records_and_bytes()[0] == 4
    assert readings.of_scope("") == {}


def test_a_batch_that_spark_has_read_is_derived_from_its_positions():
    totals = WriteTotals(rows_aside=2)
    totals.rejected["malformed_json"] = 3

    assert batch_account("clicks", 20, totals, {}).sources == {"clicks": Reading(20, 15, 5)}


def test_records_that_spark_took_before_our_tasks_saw_them_are_delivered():
    account = batch_account("clicks", 20, WriteTotals(rows_aside=1), {"clicks": Reading(4, 3, 1)})
    assert (account.sources, account.unseen) == ({"clicks": Reading(20, 18, 2)}, 15)
    assert Account.of_plain(account.to_plain()) == account


def test_dead_letters_of_a_batch_are_rejected_records():
    account = batch_account("clicks", 20, WriteTotals(rows_aside=2), {"clicks": Reading(18, 18)})

    assert (account.sources, account.unseen) == ({"clicks": Reading(20, 18, 2)}, 0)


def test_tables_that_spark_appends_to_are_named_once_because_no_balance_has_their_rows():
    totals = WriteTotals(by_spark={"glue_catalog.shop.orders": None})
    both = batch_account("clicks", 2, totals, {}) + totals.account

    assert Account.of_plain(both.to_plain()) == both
    assert list(both.lines())[1:] == [
        "glue_catalog.shop.orders: Spark appended rows that are not counted here; the table's snapshots have their number."
    ]


def test_a_source_whose_rejected_records_no_reading_has_stored_must_be_read_again():
    readings, calls = Readings(), []
    orders = readings.named("run", "orders")
    readings.keeps_nothing(orders, calls.append)
    assert readings.unkept("run") == []

    readings.in_driver(orders)(0, Reading(3, 1, 2))
    assert readings.unkept("run") == [calls.append]
    assert readings.unkept("batch/7") == []

    readings.in_driver(orders)(0, Reading(3, 1, 2, kept=2))
    assert readings.unkept("run") == []


def test_a_bookmark_is_known_to_have_failed_or_to_be_unused():
    readings = Readings()
    sources = {name: readings.named("run", name) for name in ("failed", "mended", "unused", "counted")}
    for name, source in sources.items():
        readings.has_bookmark(source, name)
    readings.ended(sources["failed"], is_whole=False)
    readings.ended(sources["mended"], is_whole=True)
    readings.ended(sources["mended"], is_whole=False)
    readings.in_driver(sources["counted"])(0, Reading(1, 1))

    assert (readings.failed("run"), readings.unused("run")) == (["failed"], ["unused"])
    readings.forget("run")
    assert (readings.failed("run"), readings.unused("run")) == ([], [])
