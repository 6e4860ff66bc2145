"""Rulesets with names: kept, found and changed."""

import pytest

from gluepot.core.clock import FakeClock
from gluepot.evaluation.history.rulesets import StoredRuleset, WantedRulesets, shared_rulesets
from gluepot.quality.dqdl import DqdlError
from gluepot.quality.results import CatalogTable

ORDERS = CatalogTable("sales", "orders")
TEXT = 'Rules = [ IsComplete "id", RowCount > 1 ] Analyzers = [ RowCount ]'


@pytest.fixture
def clock():
    return FakeClock(1_000.0)


@pytest.fixture
def rulesets(tmp_path, clock):
    return shared_rulesets(f"sqlite:///{tmp_path}/ledger.db", clock.epoch)


def test_a_ruleset_is_found_as_it_was_added_with_times_and_number_of_rules(rulesets):
    assert rulesets.add(StoredRuleset("orders", TEXT, "of the shop", ORDERS))
    assert rulesets.find("orders") == StoredRuleset(
        "orders", TEXT, "of the shop", ORDERS, created_ms=1_000_000, modified_ms=1_000_000, rules=2
    )
    assert rulesets.find("Orders") is None


def test_a_name_is_taken_once(rulesets):
    assert rulesets.add(StoredRuleset("orders", TEXT))
    assert not rulesets.add(StoredRuleset("orders", "Rules = [ RowCount > 5 ]"))
    assert rulesets.find("orders").text == TEXT


def test_a_text_that_is_not_valid_is_refused(rulesets):
    with pytest.raises(DqdlError):
        rulesets.add(StoredRuleset("orders", "Rules = [ RowCoun > 5 ]"))
    rulesets.add(StoredRuleset("orders", TEXT))
    with pytest.raises(DqdlError):
        rulesets.update("orders", "Rules = [ ]")
    assert rulesets.find("orders").text == TEXT


def test_a_change_keeps_what_is_not_given(rulesets, clock):
    rulesets.add(StoredRuleset("orders", TEXT, "of the shop", ORDERS))
    clock.sleep(5.0)
    changed = rulesets.update("orders", "Rules = [ RowCount > 5 ]")
    assert changed == rulesets.find("orders")
    assert (changed.description, changed.table, changed.rules) == ("of the shop", ORDERS, 1)
    assert (changed.created_ms, changed.modified_ms) == (1_000_000, 1_005_000)
    assert rulesets.update("orders", description="of all shops").text == "Rules = [ RowCount > 5 ]"
    assert rulesets.update("customers", TEXT) is None


def test_a_removed_ruleset_is_gone(rulesets):
    rulesets.add(StoredRuleset("orders", TEXT))
    assert rulesets.remove("orders")
    assert not rulesets.remove("orders")
    assert rulesets.listed() == []


def test_rulesets_are_listed_by_name_in_pages_and_by_what_is_wanted(rulesets, clock):
    for name in ("b", "a", "c"):
        rulesets.add(StoredRuleset(name, TEXT, f"rules {name}", ORDERS if name == "a" else None))
        clock.sleep(1.0)
    names = [one.name for one in rulesets.listed(most=2)]
    assert names + [one.name for one in rulesets.listed(after=names[-1])] == ["a", "b", "c"]
    assert [one.name for one in rulesets.listed(WantedRulesets(table=ORDERS))] == ["a"]
    assert [one.name for one in rulesets.listed(WantedRulesets(description="rules b"))] == ["b"]
    assert [one.name for one in rulesets.listed(WantedRulesets(created_after_ms=1_000_500))] == ["a", "c"]
    assert [one.name for one in rulesets.listed(WantedRulesets(modified_before_ms=1_000_500))] == ["b"]
