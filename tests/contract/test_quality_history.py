"""Results and rulesets of data quality, in each database that may hold them."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError
from gluepot.evaluation.history.rulesets import StoredRuleset, WantedRulesets, shared_rulesets
from gluepot.evaluation.history.store import WantedResults, shared_history
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import CatalogTable, Result, Source

ORDERS = CatalogTable("sales", "orders")
OUTCOME = RuleOutcome("RowCount > 1", True, "", {"Dataset.*.RowCount": 3.0}, "RowCount > 1", (("team", "a"),))


def test_results_replace_each_other_are_found_and_compared(url):
    history = shared_history(url)
    kept = [
        Result(Source("orders", "node 1"), f"query/{n}/node 1/1", "jr_1", n, n + 5, [OUTCOME], [], {"m": float(n)},
               table=ORDERS if n == 2 else None)
        for n in (1, 2, 3)
    ]  # fmt: skip
    for one in [*kept, kept[2]]:
        history.save(one)
    assert history.latest() == kept[::-1]
    assert history.latest(WantedResults(table=ORDERS, started_after_ms=1)) == [kept[1]]
    assert history.with_ids([kept[0].id]) == [kept[0]]
    assert history.earlier(kept[2].source, kept[2].evaluation, 5) == {"m": [2.0, 1.0]}


def test_a_name_that_the_database_cannot_take_is_an_error_that_says_what_to_do(url):
    history = shared_history(url)
    context = "c" * 1_000
    result = Result(Source("orders", context), f"query/1/{context}/1", "jr_1", 0, 5, [OUTCOME])
    # SQLite takes names of any length.
    takes_it = url.startswith("sqlite")
    with nullcontext() if takes_it else pytest.raises(ConfigError, match="give the context"):
        history.save(result)
    assert len(history.latest()) == takes_it


def test_rulesets_are_added_once_changed_listed_and_removed(url):
    rulesets = shared_rulesets(url, FakeClock(1_000.0).epoch)
    assert rulesets.add(StoredRuleset("orders", "Rules = [ RowCount > 1 ]", table=ORDERS))
    assert not rulesets.add(StoredRuleset("orders", "Rules = [ RowCount > 2 ]"))
    changed = rulesets.update("orders", "Rules = [ RowCount > 3 ]", "of the shop")
    assert changed == rulesets.find("orders")
    assert rulesets.listed(WantedRulesets(description="of the shop", table=ORDERS)) == [changed]
    assert rulesets.remove("orders")
    assert not rulesets.remove("orders")
