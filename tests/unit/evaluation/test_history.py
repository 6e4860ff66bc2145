"""The history of results: each evaluation once, and earlier values by job and context."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace

import pytest

from gluepot.evaluation.history.connect import HEAD, MIGRATIONS
from gluepot.evaluation.history.store import WantedResults, shared_history
from gluepot.quality.distributions import ValueCounts
from gluepot.quality.observations import Observation
from gluepot.quality.outcomes import AnalyzerOutcome, RuleOutcome
from gluepot.quality.results import CatalogTable, Result, RowSummary, Source

ORDERS = Source("orders", "node 1")
OUTCOME = RuleOutcome("RowCount > 1", True, "", {"Dataset.*.RowCount": 3.0}, "RowCount > 1", (("team", "a"),))

BINS = ValueCounts("long", (3, 0), (0.0, 0.1, 0.2), above=1)


@pytest.fixture
def history(tmp_path):
    return shared_history(f"sqlite:///{tmp_path}/ledger.db")


def result(number: int, value: float, source: Source = ORDERS) -> Result:
    return Result(source, f"query/{number}/node 1/1", "jr_1", 1_000 * number, 1_000 * number + 5, [OUTCOME], [],
                  {"Dataset.*.RowCount": value})  # fmt: skip


def test_a_result_comes_back_as_it_was(history):
    kept = replace(
        result(1, 3.0),
        outcomes=[OUTCOME, replace(OUTCOME, passed=False, reason="why")],
        analyzers=[AnalyzerOutcome("RowCount", {"Dataset.*.RowCount": 3.0}), AnalyzerOutcome("Sum", reason="no sum")],
        rows=3,
        summary=RowSummary(3, 1, Counter({"RowCount > 1": 2}), Counter({"RowCount > 1": 1})),
        ruleset="rules of orders",
        ruleset_run_id="dqrun-1",
        table=CatalogTable("sales", "orders"),
        distributions={"Column.n.Distribution": BINS},
        observations=(Observation("It is low.", "Dataset.*.RowCount", 3.0, 9.0, 8.0, 10.0, ("RowCount > 7",)),),
    )
    history.save(kept)
    assert history.latest() == [kept]


def test_a_repeated_evaluation_replaces_its_result(history):
    for number in (1, 2):
        history.save(result(number, 10.0 * number))
    history.save(result(2, 99.0))
    assert [one.metrics["Dataset.*.RowCount"] for one in history.latest()] == [99.0, 10.0]


def test_earlier_values_are_the_newest_first_and_without_those_of_the_evaluation_itself(history):
    for number in range(1, 6):
        history.save(result(number, float(number)))
    assert history.earlier(ORDERS, "query/5/node 1/1", 3) == {"Dataset.*.RowCount": [4.0, 3.0, 2.0]}
    assert history.earlier(ORDERS, "query/6/node 1/1", 2) == {"Dataset.*.RowCount": [5.0, 4.0]}


def test_the_distribution_of_each_column_is_that_of_the_newest_earlier_evaluation_that_has_it(history):
    texts = ValueCounts("string", (1,), values=("a",))
    history.save(replace(result(1, 1.0), distributions={"n": BINS, "s": texts}))
    history.save(replace(result(2, 1.0), distributions={"n": replace(BINS, above=5)}))
    history.save(result(3, 1.0))
    history.save(replace(result(4, 1.0), distributions={"n": replace(BINS, above=9)}))
    assert history.distributions(ORDERS, "query/4/node 1/1", 9) == {"n": replace(BINS, above=5), "s": texts}
    assert history.distributions(ORDERS, "query/4/node 1/1", 1) == {}


@pytest.mark.parametrize("other", [Source("orders", "node 2"), Source("customers", "node 1")])
def test_other_jobs_and_contexts_have_a_history_of_their_own(history, other):
    history.save(replace(result(1, 7.0, other), evaluation=f"other {other.job} {other.context}"))
    assert history.earlier(ORDERS, "query/2/node 1/1", 9) == {}
    assert history.latest(WantedResults(other.job, other.context))
    assert history.latest(WantedResults(context="node 3")) == []


def test_a_value_that_is_not_finite_is_left_out(history):
    history.save(result(1, float("nan")))
    assert history.earlier(ORDERS, "query/2/node 1/1", 9) == {}


def test_the_head_is_the_newest_migration():
    assert max(path.name for path in (MIGRATIONS / "versions").glob("v*.py")).startswith(f"v{HEAD}_")


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (WantedResults(run_id="jr_1"), [3, 2, 1]),
        (WantedResults(run_id="jr_2"), []),
        (WantedResults(started_after_ms=1_000, started_before_ms=3_000), [2]),
        (WantedResults(table=CatalogTable("sales", "orders")), [2]),
        (WantedResults(table=CatalogTable("sales", "customers")), []),
    ],
)
def test_results_are_found_by_run_time_and_table(history, wanted, numbers):
    for number in (1, 2, 3):
        table = CatalogTable("sales", "orders") if number == 2 else None
        history.save(replace(result(number, 1.0), table=table))
    assert [one.started_ms // 1_000 for one in history.latest(wanted)] == numbers


def test_results_come_in_pages_and_by_id(history):
    kept = [result(number, 1.0) for number in (1, 2, 3)]
    for one in kept:
        history.save(one)
    assert history.latest(most=2) + history.latest(most=2, skip=2) == kept[::-1]
    assert history.with_ids([kept[1].id, "dqresult-none"]) == [kept[1]]


def test_a_repeated_evaluation_keeps_its_id(history):
    history.save(result(1, 1.0))
    before = history.latest()[0].id
    history.save(result(1, 2.0))
    assert [one.id for one in history.latest()] == [before]


FIRST_TABLES = """
CREATE TABLE quality_alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
INSERT INTO quality_alembic_version VALUES ('0001');
CREATE TABLE quality_results (id INTEGER PRIMARY KEY AUTOINCREMENT, evaluation VARCHAR(400) NOT NULL UNIQUE,
    job VARCHAR(400) NOT NULL, context VARCHAR(400) NOT NULL, run_id VARCHAR(400) NOT NULL,
    started_ms BIGINT NOT NULL, completed_ms BIGINT NOT NULL, body TEXT NOT NULL);
CREATE INDEX quality_results_of_context ON quality_results (job, context, id);
CREATE TABLE quality_metrics (result INTEGER REFERENCES quality_results (id), metric VARCHAR(1000), value DOUBLE,
    PRIMARY KEY (result, metric));
"""


def test_results_of_the_first_tables_stay(tmp_path):
    path = tmp_path / "old.db"
    body = {"outcomes": [], "analyzed": {"Dataset.*.RowCount": 4.0}}
    with closing(sqlite3.connect(path)) as db:
        db.executescript(FIRST_TABLES)
        for number in (1, 2):
            values = (f"query/{number}/node 1/1", "orders", "node 1", "jr_1", 1_000, 1_005, json.dumps(body))
            db.execute(
                "INSERT INTO quality_results (evaluation, job, context, run_id, started_ms, completed_ms, body)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                values,
            )
        db.commit()
    newest, oldest = shared_history(f"sqlite:///{path}").latest()
    assert newest.analyzed == {"Dataset.*.RowCount": 4.0}
    assert shared_history(f"sqlite:///{path}").with_ids([oldest.id]) == [oldest]
