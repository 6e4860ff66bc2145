"""`gluepot quality` as far as it needs no Spark."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from gluepot.cli.quality import report
from gluepot.cli.quality.commands import app
from gluepot.cli.quality.data import is_path
from gluepot.evaluation.history.store import shared_history
from gluepot.quality.distributions import ValueCounts
from gluepot.quality.observations import Observation
from gluepot.quality.outcomes import AnalyzerOutcome, RuleOutcome
from gluepot.quality.results import Result, Source

GOOD = 'Rules = [ IsComplete "id", RowCount > 3 ]  # all of them\n'
RESULT = Result(
    Source("gluepot quality", "orders"), "1/0/orders/1", "", 0, 1500,
    [RuleOutcome("RowCount > 3", True, "", {"Dataset.*.RowCount": 5.0}, "RowCount > 3"),
     RuleOutcome('IsComplete "a"', False, "Value: 0.5 <is> low", {"Column.a.Completeness": 0.5}, 'IsComplete "a"')],
    [AnalyzerOutcome('Mean "a"', {"Column.a.Mean": 2.5})],
    distributions={"Column.a.Distribution": ValueCounts("long", (1200, 0), (0.0, 5.0, 10.5), above=3),
                   "Column.s.Distribution": ValueCounts("string", (2,), values=("<b>x</b>",), others=7)},
    observations=[Observation("Rows are few.", "Dataset.*.RowCount", 5.0, 9.0, 8.0, 10.0, ("RowCount > 7",))],
)  # fmt: skip


def run(*tokens: str) -> int:
    """Run a command and return the exit code."""
    try:
        app(list(tokens), exit_on_error=False, result_action="return_value")
    except SystemExit as ended:
        return ended.code
    return 0


def test_lint_names_the_place_of_each_mistake(tmp_path, capsys):
    good, bad = tmp_path / "good.dqdl", tmp_path / "bad.dqdl"
    good.write_text(GOOD)
    bad.write_text("Rules = [\n  IsComplet id\n]")
    assert run("lint", str(good)) == 0
    assert run("lint", str(good), str(bad)) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{good}: 2 rules, 0 analyzers."
    assert lines[-1] == f"{bad}: Line 2, column 3: there is no rule type IsComplet; did you mean IsComplete?"


def test_lint_mentions_what_glue_would_refuse(tmp_path, capsys):
    path = tmp_path / "old.dqdl"
    path.write_text("Rules = [ RowCount > 3 -- rows\n]")
    assert run("lint", str(path), "--output", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["valid"]
    assert "Glue knows only comments that begin with #" in row["message"]


def test_history_lists_the_newest_result_first(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("GLUEPOT_LEDGER", url := f"sqlite:///{tmp_path}/ledger.db")
    assert run("history") == 0
    assert capsys.readouterr().out == "No check has kept a result.\n"
    for number in (1, 2):
        shared_history(url).save(replace(RESULT, evaluation=f"{number}", completed_ms=1000 * number))
    assert run("history", "--output", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["time"] for row in rows] == ["1970-01-01T00:00:02.000+00:00", "1970-01-01T00:00:01.000+00:00"]
    assert (rows[0]["passed"], rows[0]["failed"], rows[0]["failed_rules"]) == (1, 1, ['IsComplete "a"'])
    assert [seen["Description"] for seen in rows[0]["observations"]] == ["Rows are few."]


def test_a_result_as_text():
    assert report.text(RESULT, "text").splitlines() == [
        "passed  RowCount > 3",
        'failed  IsComplete "a"',
        "        Value: 0.5 <is> low",
        "Column.a.Mean = 2.5",
        "Column.a.Distribution:",
        "       1,200  [0, 5)",
        "           0  [5, 10.5]",
        "           3  above",
        "Column.s.Distribution:",
        "           2  <b>x</b>",
        "           7  other values",
        "observed  Rows are few.",
        "          This rule would notice it: RowCount > 7",
        "1 of 2 rules passed, score 0.50",
    ]


def test_a_result_as_json_has_distributions_and_observations_as_glue_names_them():
    found = json.loads(report.text(RESULT, "json"))
    assert found["distributions"]["Column.a.Distribution"]["BinEdges"] == ["0.0", "5.0", "10.5"]
    assert found["observations"] == [
        {
            "Description": "Rows are few.",
            "MetricBasedObservation": {
                "MetricName": "Dataset.*.RowCount",
                "MetricValues": {"ActualValue": 5.0, "ExpectedValue": 9.0, "LowerLimit": 8.0, "UpperLimit": 10.0},
                "NewRules": ["RowCount > 7"],
            },
        }
    ]


def test_a_result_as_junit():
    suite = ET.fromstring(report.text(RESULT, "junit"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("time")) == ("2", "1", "1.500")
    passed, failed = suite.findall("testcase")
    assert passed.find("failure") is None
    assert failed.find("failure").get("message") == "Value: 0.5 <is> low"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("sales.orders", False), ("/data/orders", True), ("s3://lake/orders", True), ("orders", True), ("a.b.c", True)],
)
def test_names_of_tables_and_paths(name, expected):
    assert is_path(name) is expected
