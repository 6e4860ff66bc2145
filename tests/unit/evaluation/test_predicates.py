"""What is said about a `where` that Spark does not understand."""

import pytest

from gluepot.evaluation.predicates import invalid_where
from gluepot.quality.dqdl.ruleset import Rule

RULE = Rule("IsComplete", ("id",), where="id > > 1", line=3)
BEGIN = 'Line 3: rule IsComplete "id" where "id > > 1" has provided an invalid where clause'


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            "[PARSE_SYNTAX_ERROR] Syntax error at or near '>'. SQLSTATE: 42601 (line 1, pos 5)",
            f"{BEGIN} at character 6: Syntax error at or near '>'.",
        ),
        (
            "[UNRESOLVED_ROUTINE] Cannot resolve routine `nope`. SQLSTATE: 42883; line 2 pos 15",
            f"{BEGIN} at line 2, character 16: Cannot resolve routine `nope`.",
        ),
        (
            "[UNRESOLVED.A] `x` cannot be found. Did you mean one of the following? [`id`]. SQLSTATE: 42703; line 1 pos 0;",
            f"{BEGIN} at character 1: `x` cannot be found; did you mean one of `id`?",
        ),
        (
            '[DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN] "id" is not a boolean. SQLSTATE: 42K09;',
            f'{BEGIN}: "id" is not a boolean.',
        ),
        ("Something else", f"{BEGIN}: Something else."),
    ],
)
def test_one_sentence_says_which_rule_where_and_why(error, expected):
    assert invalid_where(RULE, error) == expected
