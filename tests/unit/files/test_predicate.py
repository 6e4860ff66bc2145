from __future__ import annotations

import pytest

from gluepot.connectors.files.source.predicate import parse_predicate
from gluepot.core.errors import ConfigError

DAY = {"year": "2024", "month": "01", "day": None, "region": "eu-west"}


@pytest.mark.parametrize(
    "text",
    [
        "year = '2024'",
        "year == 2024 and month='01'",
        "YEAR >= 2024 AND `month` < 2",
        "(year = '2023' or year = '2024') and not month = '02'",
        "month in ('01', '02')",
        "month not in ('02')",
        "year between 2023 and 2025",
        "region like 'eu-%'",
        "region not like 'us%'",
        "day is null",
        "year is not null",
        "month <> '1'",
        "month = 1",
        'year != "2025"',
        "true",
    ],
)
def test_a_folder_that_matches(text):
    assert parse_predicate(text).matches(DAY)


@pytest.mark.parametrize(
    "text",
    [
        "year = '2023'",
        "month = '1'",
        "day = '1'",
        "not day = '1'",
        "region > 5",
        "year is null",
        "nothing = 'x'",
        "year between 2025 and 2026",
        "month in ('02', '03') or false",
    ],
)
def test_a_folder_that_does_not_match(text):
    assert not parse_predicate(text).matches(DAY)


@pytest.mark.parametrize(
    ("text", "known", "may"),
    [
        ("year = '2024' and month = '01'", {"year": "2024"}, True),
        ("year = '2024' and month = '01'", {"year": "2023"}, False),
        ("year = '2024' or month = '01'", {"year": "2023"}, True),
        ("not (year = '2024' and month = '01')", {"year": "2023"}, True),
        ("month between '01' and '03'", {"year": "2024"}, True),
        ("day is null", {}, True),
        ("year = '2024' and day is null", {"year": "undecided"}, False),
    ],
)
def test_a_folder_is_opened_while_it_can_hold_a_match(text, known, may):
    assert parse_predicate(text).may_match(known) is may


@pytest.mark.parametrize(
    "text", ["", "year", "year = ", "year = '2024' month", "to_date(day) > 1", "year ~ 3", "a in ()"]
)
def test_what_is_not_understood_is_said(text):
    with pytest.raises(ConfigError, match="is not understood from"):
        parse_predicate(text)


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("id = '9007199254740993'", True),
        ("id = 9007199254740992", False),
        ("id > '9'", True),
        ("'9' < id", True),
        ("id between '1' and '10'", False),
        ("id in ('x', 9007199254740993)", True),
        ("id = 'x'", False),
        ("not id = 'x'", False),
        ("id <> 1", True),
    ],
)
def test_a_column_with_a_type_is_compared_as_that_type(text, matches):
    assert parse_predicate(text, {"id": int}).matches({"id": "9007199254740993"}) is matches
