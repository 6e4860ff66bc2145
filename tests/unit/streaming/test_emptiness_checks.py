"""Which counts are asked for nothing but emptiness."""

import inspect

import pytest

from gluepot.streaming.count_ahead.emptiness import is_compared_with_zero


def seen_by(statement: str) -> list[bool]:
    """What is told of each call of `count` in a statement, as it runs."""
    told = []

    def count() -> int:
        told.append(is_compared_with_zero(inspect.currentframe().f_back))
        return 7

    exec(statement, {"count": count, "ten": 10, "held": []})
    return told


@pytest.mark.parametrize(
    "statement",
    [
        "if count() > 0: pass",
        "if (count() > 0): pass",
        "if count() == 0: pass",
        "if count() != 0: pass",
        "if not count() >= 0 and ten: pass",
        "is_full = count() > 0",
        "print(count() > 0)",
        "def process(): return count() > 0\nprocess()",
        "while count() < 0: pass",
        ";".join(f"held.append({n}.5)" for n in range(300)) + "\nif count() > 0: pass",
    ],
)
def test_a_guard_is_known(statement):
    assert seen_by(statement) == [True]


@pytest.mark.parametrize(
    "statement",
    [
        "count()",
        "rows = count()",
        "if count(): pass",
        "if count() > 1: pass",
        "if count() > 0.0: pass",
        "if count() > False: pass",
        "if count() > ten: pass",
        "if 0 < count() < 5: pass",
        "if count() > 0 > ten: pass",
        "print(count(), 0)",
        "if count() + 0 > 0: pass",
        "if count() - 7 > 0: pass",
        "if (rows := count()) > 0: pass",
        "if int(count()) > 0: pass",
        "print(f'{count()} rows', 0 > ten)",
        "if count() is not None: pass",
        "if count() in [0]: pass",
        "print([0][count() - 7] > 0)",
        "print((count(), 0) > (0, 0))",
    ],
)
def test_any_other_use_is_counted(statement):
    assert seen_by(statement) == [False]


def test_every_call_is_told_by_itself():
    assert seen_by("rows = count() if count() > 0 else 0") == [True, False]


def test_a_call_from_nowhere_is_counted():
    assert not is_compared_with_zero(None)
