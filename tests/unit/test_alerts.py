"""What can be said of the alert rules without a Prometheus: names, labels, and that every runbook is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from gluepot.streaming.observe.metric_names import FILE_BYTES_BUCKETS, LATENCY_SECS_BUCKETS
from tests.exposed import exposed, exposed_by_service

REPOSITORY = Path(__file__).parents[2]
RULES = [
    rule
    for group in yaml.safe_load((REPOSITORY / "deploy/prometheus/alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
ALERTS = [rule for rule in RULES if "alert" in rule]
SCENARIOS = yaml.safe_load((REPOSITORY / "deploy/prometheus/alerts.test.yaml").read_text())["tests"]
RUNBOOKS = REPOSITORY / "docs/runbooks"


def test_rules_ask_for_metrics_that_are_exposed():
    asked = {name for rule in RULES for name in re.findall(r"\bgluepot_\w+", rule["expr"])}
    assert asked
    assert asked - exposed(opt_in=False).keys() - exposed_by_service() == set()


def test_rules_ask_for_recorded_series_that_are_recorded():
    recorded = {rule["record"] for rule in RULES if "record" in rule}
    assert {name for rule in ALERTS for name in re.findall(r"gluepot:[\w:]+", rule["expr"])} == recorded


def test_bounds_of_histograms_are_buckets_of_them():
    bounds = {bound for rule in RULES for bound in re.findall(r'le="([^"]+)"', rule["expr"])}
    assert bounds
    assert bounds <= {str(float(bound)) for bound in (*LATENCY_SECS_BUCKETS, *FILE_BYTES_BUCKETS)}


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_every_alert_waits_says_how_bad_it_is_and_has_a_page(alert):
    assert re.fullmatch(r"\d+[mh]", alert["for"])
    assert alert["labels"]["severity"] in {"info", "warning", "critical"}
    assert "{{ $labels.job }}" in alert["annotations"]["summary"]
    page = RUNBOOKS / alert["annotations"]["runbook_url"].rpartition("/")[2]
    assert page.read_text().startswith(f"# {alert['alert']}\n")


def test_every_page_belongs_to_an_alert():
    pages = {alert["annotations"]["runbook_url"].rpartition("/")[2] for alert in ALERTS}
    assert pages == {page.name for page in RUNBOOKS.iterdir()}


def firing(scenario):
    """The alerts that a scenario expects to fire."""
    expected = (one["labels"] for test in scenario["promql_expr_test"] for one in test["exp_samples"])
    return {name for labels in expected for name in re.findall(r'alertname="(\w+)"', labels)}


def asked_of(alert):
    """The series that an alert, and what is recorded for it, are worked out from."""
    recorded = {rule["record"]: rule["expr"] for rule in RULES if "record" in rule}
    exprs = [alert["expr"], *(expr for name, expr in recorded.items() if name in alert["expr"])]
    return {name for expr in exprs for name in re.findall(r"\bgluepot_\w+", expr)}


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_every_alert_has_a_scenario_in_which_it_fires_and_one_in_which_it_could_and_does_not(alert):
    given = [(firing(one), {series["series"].partition("{")[0] for series in one["input_series"]}) for one in SCENARIOS]
    assert any(alert["alert"] in fires for fires, _ in given)
    assert any(not fires and asked_of(alert) <= series for fires, series in given)
