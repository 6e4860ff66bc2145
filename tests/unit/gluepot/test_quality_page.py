"""The HTML page of a check."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from gluepot.cli.quality.page import page
from gluepot.cli.quality.plots import bar_plot, line_plot, short
from gluepot.quality.distributions import ValueCounts
from gluepot.quality.results import Result, Source
from tests.quality_scene import EVIL, RULE, history

VOID = {"meta", "link", "br"}


class Elements(HTMLParser):
    """Reads a page and holds its elements; an element that does not end where it should is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.labels: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.labels += [value for name, value in attrs if name == "aria-label"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def text() -> str:
    return page(*history())


def test_the_page_loads_nothing_and_runs_nothing(text):
    found = Elements(text)
    assert not {"script", "link", "img", "iframe"} & set(found.names)
    assert not {one for one in found.attributes if one.startswith("on") or one in {"src", "href"}}
    assert "http" not in text.replace("http-equiv", "")
    assert "url(" not in text


def test_what_comes_from_the_data_is_escaped(text):
    assert EVIL not in text
    shown = Elements(text).text
    assert f"Data quality of orders {EVIL}" in shown
    assert RULE in shown
    assert f"{EVIL} fell." in shown


def test_every_plot_has_a_description(text):
    found = Elements(text)
    assert found.names.count("svg") == len(found.labels) == 1 + 2 + 3 + 2
    assert "1 rules passed, 1 failed" in found.labels
    assert "passed 11 of 13 times" in found.labels
    assert "Dataset.*.RowCount, 13 values; the newest: " in "\n".join(found.labels)


def test_rules_observations_and_metrics_are_there(text):
    shown = Elements(text).text
    assert "1 of 2 rules passed, score 0.50." in shown
    assert "This rule would notice it: RowCount > 970" in shown
    assert "2 below and 40 above all bins, 2.9 %." in shown
    assert "7 rows have other values." in shown
    assert "Metrics without a history" not in shown


def test_a_first_result_without_rules_has_a_page_too():
    shown = Elements(page(Result(Source("job", "orders"), "1", "", 0, 0, [], metrics={"Column.a.Mean": 2.5}), []))
    assert "Column.a.Mean" in shown.text
    assert "svg" not in shown.names


def test_a_forecast_begins_with_the_fourth_value():
    plot = line_plot([(f"t{at}", value) for at, value in enumerate([10.0, 10.0, 10.0, 10.0, 20.0])])
    assert len(plot.bands) == 2
    assert [mark.is_unexpected for mark in plot.marks] == [False, False, False, False, True]
    assert plot.marks[-1].text == "t4: 20, expected 9.9 to 10.1"
    assert plot.marks[-1].y < plot.marks[0].y


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [-1e300, 1e300], [1e-9, 2e-9, 3e-9]])
def test_all_points_lie_inside_of_the_plot(values):
    plot = line_plot([("", value) for value in values])
    assert all(0 <= mark.x <= 640 and 0 <= mark.y <= 190 for mark in plot.marks)
    assert plot.ticks


def test_the_highest_bar_fills_the_plot():
    plot = bar_plot(ValueCounts("long", (1, 4, 0), (0.0, 1.0, 2.0, 3.0)))
    assert [bar.box.height for bar in plot.bars] == [38.0, 152.0, 0.0]
    assert plot.bars[1].label == "1 to 2"


def test_long_values_are_cut():
    plot = bar_plot(ValueCounts("string", (3,), values=("x" * 80,)))
    assert re.fullmatch("x{25}…", plot.bars[0].label)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1234567.0, "1,234,567"), (0.1 + 0.2, "0.3"), (1e15, "1e+15"), (float("nan"), "nan"), (float("inf"), "inf")],
)
def test_numbers_are_short(value, expected):
    assert short(value) == expected
