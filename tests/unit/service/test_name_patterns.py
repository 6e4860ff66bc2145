"""Patterns of the names of tables and functions."""

import pytest

from gluepot.core.errors import ConfigError
from gluepot.service.errors import ServiceError
from gluepot.service.name_patterns import name_pattern


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("", ["any"], []),
        ("*", ["any"], []),
        (".*", ["any"], []),
        ("sales*", ["sales", "sales_de"], ["my_sales"]),
        ("*sales*", ["sales", "my_sales_de"], ["sale"]),
        ("a.*z", ["az", "abz"], ["abc"]),
        ("[ab]*c", ["c", "abac"], ["xc"]),
        ("(ab)*", ["abab"], ["aba"]),
        ("a|b*", ["a", "bc"], ["ab"]),
        ("Sales", ["sales"], ["sales2"]),
    ],
)
def test_a_star_stands_for_any_characters_unless_it_repeats(pattern, matching, others):
    compiled = name_pattern(pattern)
    assert [name for name in [*matching, *others] if compiled.matches(name)] == matching


def test_what_is_no_regular_expression_is_refused():
    with pytest.raises(ServiceError, match="not a regular expression"):
        name_pattern("[a")


def test_a_pattern_with_nested_repetitions_ends():
    assert name_pattern("(a+)+b").chosen(["a" * 36, "a" * 36 + "b"]) == [False, True]


def test_names_that_are_not_ascii_match_as_others_do():
    assert name_pattern("größe.*|(a+)+b").chosen(["GRÖSSE_1", "größe_1", "GRÖßE_2", "a" * 36 + "é"]) == [
        False,
        True,
        True,
        False,
    ]


def test_an_expression_that_takes_too_long_is_refused():
    with pytest.raises(ConfigError, match="use fewer nested repetitions"):
        name_pattern(r"((a|a)+)\1b").chosen(["a" * 40])


@pytest.mark.parametrize("pattern", ["a{99999999999}", "(" * 5000, "a" * 20_000])
def test_a_pattern_that_no_engine_can_take_is_refused(pattern):
    with pytest.raises(ServiceError, match="not a regular expression"):
        name_pattern(pattern)
