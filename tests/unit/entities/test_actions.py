"""How values are hidden."""

from __future__ import annotations

from hashlib import sha256

import pytest

from gluepot.entities.actions import Action, Rule, masked
from gluepot.entities.finding import Finding

TEXT = "mail ada@example.com or 536-90-4399!"
MAIL, SSN = Finding("EMAIL", 5, 20), Finding("USA_SSN", 24, 35)


def rule(action, **options):
    return Rule("EMAIL", action, **options)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (rule(Action.DETECT), TEXT),
        (rule(Action.REDACT, text="<gone>"), "mail <gone> or 536-90-4399!"),
        (rule(Action.REDACT, text=""), "mail  or 536-90-4399!"),
        (rule(Action.PARTIAL_REDACT, text="*"), f"mail {'*' * 15} or 536-90-4399!"),
        (rule(Action.PARTIAL_REDACT, text="#", keep_left=2, keep_right=3), f"mail ad{'#' * 10}com or 536-90-4399!"),
        (rule(Action.PARTIAL_REDACT, text="*", keep_left=9, keep_right=9), TEXT),
        (rule(Action.PARTIAL_REDACT, text="*", pattern="[a-z]"), "mail ***@*******.*** or 536-90-4399!"),
        (rule(Action.SHA256_HASH), f"mail {sha256(b'ada@example.com').hexdigest()} or 536-90-4399!"),
    ],
)
def test_a_value_is_hidden_as_its_action_says(how, expected):
    assert masked(TEXT, [(MAIL, how)]) == expected


def test_several_values_are_hidden_each_by_its_own_rule():
    found = [
        (SSN, Rule("USA_SSN", Action.PARTIAL_REDACT, text="*", keep_right=4)),
        (MAIL, rule(Action.REDACT, text="*****")),
    ]

    assert masked(TEXT, found) == "mail ***** or *******4399!"


def test_values_that_overlap_are_hidden_as_one():
    found = [(Finding("A", 0, 6), rule(Action.REDACT, text="x")), (Finding("B", 4, 9), rule(Action.REDACT, text="y"))]

    assert masked("123456789 0", found) == "x 0"


def test_what_is_only_told_does_not_keep_another_from_being_hidden():
    found = [(Finding("A", 0, 9), rule(Action.DETECT)), (Finding("B", 0, 4), rule(Action.REDACT, text="y"))]

    assert masked("123456789", found) == "y56789"


def test_a_rule_covers_named_columns_with_what_is_inside_them():
    named = Rule("EMAIL", columns=("address", "a.b"))
    all_but = Rule("EMAIL", excluded=("address",))

    assert [named.covers(one) for one in ("address", "address.mail", "addresses", "a", "a.b.c")] == [
        True,
        True,
        False,
        False,
        True,
    ]
    assert [all_but.covers(one) for one in ("address.mail", "other")] == [False, True]
