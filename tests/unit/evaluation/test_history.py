"""The history of results: each evaluation once, and earlier values by job and context."""

from dataclasses import replace

import pytest

from gluepot.evaluation.history import store
from gluepot.evaluation.history.store import HEAD, shared_history
from gluepot.evaluation.results import Result, Source
from gluepot.quality.distributions import ValueCounts
from gluepot.quality.observations import Observation
from gluepot.quality.outcomes import RuleOutcome

ORDERS = Source("orders", "node 1")
OUTCOME = RuleOutcome("RowCount > 1", True, "", {"Dataset.*.RowCount": 3.0}, "RowCount > 1", (("team", "a"),))

BINS = ValueCounts("long", (3, 0), (0.0, 0.1, 0.2), above=1)


@pytest.fixture
def history(tmp_path):
    return shared_history(f"sqlite:///{tmp_path}/ledger.db")


def result(number: int, value: float, source: Source = ORDERS) -> Result:
    return Result(source, f"query/{number}/node 1/1", "jr_1", 1_000 * number, 1_000 * number + 5, [OUTCOME], {},
                  {"Dataset.*.RowCount": value})  # fmt: skip


def test_a_result_comes_back_as_it_was(history):
    kept = replace(
        result(1, 3.0),
        outcomes=[OUTCOME, replace(OUTCOME, passed=False, reason="why")],
        analyzed={"m": 1.5},
        distributions={"Column.n.Distribution": BINS},
        observations=[Observation("It is low.", "Dataset.*.RowCount", 3.0, 9.0, 8.0, 10.0, ("RowCount > 7",))],
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
    assert history.latest(job=other.job, context=other.context)
    assert history.latest(context="node 3") == []


def test_a_value_that_is_not_finite_is_left_out(history):
    history.save(result(1, float("nan")))
    assert history.earlier(ORDERS, "query/2/node 1/1", 9) == {}


def test_the_head_is_the_newest_migration():
    folder = store._PART.migrations / "versions"
    assert max(path.name for path in folder.glob("v*.py")).startswith(f"v{HEAD}_")
