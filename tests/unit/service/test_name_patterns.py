"""Patterns of the names of tables and functions."""

import pytest

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
    assert [name for name in [*matching, *others] if compiled.fullmatch(name)] == matching


def test_what_is_no_regular_expression_is_refused():
    with pytest.raises(ServiceError, match="not a regular expression"):
        name_pattern("[a")
