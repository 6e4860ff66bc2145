"""What can be said of the boards without a Prometheus: they are those of the code, and ask for what there is."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from scripts.dashboards import BOARDS, FOLDER, rendered
from tests.exposed import exposed

COMMITTED = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
SELECTED = re.compile(r"(?P<name>gluepot_\w+)(?:\{(?P<labels>[^}]*)\})?")
GROUPED = re.compile(r"\b(?:by|on|without|group_left|group_right) \(([^)]*)\)")


def queries(board: dict[str, Any]) -> list[tuple[str, str]]:
    """Expression and legend of every query of a board, those of its events among them."""
    panels = [(target["expr"], target["legendFormat"]) for one in board["panels"] for target in one.get("targets", [])]
    return panels + [(event["expr"], "") for event in board["annotations"]["list"]]


QUERIES = [
    pytest.param(*query, id=f"{uid}-{number}")
    for uid, board in COMMITTED.items()
    for number, query in enumerate(queries(board))
]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_the_committed_board_is_that_of_the_code(board):
    text = (FOLDER / f"{board.uid}.json").read_text(encoding="utf-8")
    assert text == rendered(board), "run `python -m scripts.documents`"


def test_every_committed_board_comes_from_the_code():
    assert COMMITTED.keys() == {board.uid for board in BOARDS}


@pytest.mark.parametrize(("expr", "legend"), QUERIES)
def test_a_query_asks_for_series_and_labels_that_are_exposed(expr, legend):
    series = exposed()
    known: set[str] = set()
    for found in SELECTED.finditer(expr):
        labels = series[found["name"]]
        known.update(labels)
        assert set(re.findall(r"(\w+)=", found["labels"] or "")) <= set(labels)
    grouped = {label.strip() for group in GROUPED.findall(expr) for label in group.split(",")} - {""}
    assert grouped <= known
    assert set(re.findall(r"\{\{(\w+)\}\}", legend)) <= known


@pytest.mark.parametrize("board", COMMITTED.values(), ids=COMMITTED.keys())
def test_a_board_uses_the_variables_it_has_and_has_none_that_it_does_not_use(board):
    had = {variable["name"] for variable in board["templating"]["list"]}
    used = set(re.findall(r"\$\{?(?!__)(\w+)", json.dumps([board["panels"], board["annotations"]])))
    assert used == had


@pytest.mark.parametrize("board", COMMITTED.values(), ids=COMMITTED.keys())
def test_every_panel_says_what_it_shows_and_in_which_unit(board):
    panels = [one for one in board["panels"] if one["type"] != "row"]
    assert all(one["title"] and one["description"] and one["fieldConfig"]["defaults"]["unit"] for one in panels)
    assert len({one["id"] for one in board["panels"]}) == len(board["panels"])


@pytest.mark.parametrize("board", COMMITTED.values(), ids=COMMITTED.keys())
def test_a_board_marks_starts_schema_changes_and_advice_taken(board):
    named = [event["name"] for event in board["annotations"]["list"]]
    assert named == ["Start of a run", "Schema change", "Advice taken"]
