from __future__ import annotations

import ast

import pytest

from tests.mutants.operators import function_codes, mutants, mutated, noticing

SOURCE = '''
def judged(number, limit=5):
    """Say what it is."""
    found = []
    log.info("begun", number=1)
    if number < limit and not number == 3:
        found.append("small")
        return found
    found += [n + 1 for n in range(4) if n > 1]
    if number > 100:
        raise ValueError(number)
    return found if number else None
'''


def _outcomes(code):
    def judged(number, limit=5):
        """Is replaced."""

    judged.__globals__["log"] = type("Log", (), {"info": lambda *_, **__: None})
    judged.__code__ = code
    results = []
    for number in (0, 2, 3, 5, 6, 100, 101):
        try:
            results.append(judged(number))
        except ValueError:
            results.append("refused")
    return results


RIGHT = _outcomes(function_codes(ast.parse(SOURCE), "made")["judged"])


@pytest.mark.parametrize("mutant", mutants("made", SOURCE), ids=str)
def test_each_change_makes_a_version_that_behaves_otherwise(mutant):
    assert _outcomes(mutated(mutant, SOURCE, "made")) != RIGHT


def test_all_kinds_of_changes_are_found_and_log_lines_and_defaults_are_left_alone():
    assert {one.operator for one in mutants("made", SOURCE)} == {
        "and/or",
        "assignment removed",
        "branches exchanged",
        "call removed",
        "comparison",
        "condition never true",
        "condition reversed",
        "constant",
        "early return removed",
        "filter removed",
        "not removed",
        "plus/minus",
        "raise removed",
    }
    assert not [one for one in mutants("made", SOURCE) if "log" in one.before or "limit=5" in one.before]


def test_a_function_that_is_called_says_its_name():
    called = []
    scope = {"__called__": called.append, "log": type("Log", (), {"info": lambda *_, **__: None})}
    exec(compile(ast.parse(SOURCE), "made", "exec"), scope)
    scope["judged"].__code__ = noticing(SOURCE, "made", "__called__")["judged"]
    scope["judged"](2)
    assert called == ["judged"]
