"""Regular expressions in bounded time, compared with Python's own engine."""

import re
import time
import unicodedata
import warnings

import pytest
import regex
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gluepot.core.patterns.expressions import TooSlow, expression
from gluepot.core.patterns.syntax import Invalid, is_plain, translated

DOTLESS, DOTTED, LONG_S = "\u0131", "\u0130", "\u017f"
CHARACTERS = "aabikK_1 \néA.\x1c²" + DOTLESS + DOTTED + LONG_S
ATOMS = [
    "a",
    "b",
    "i",
    "K",
    "_",
    "1",
    " ",
    ".",
    "é",
    DOTLESS,
    DOTTED,
    LONG_S,
    "\\n",
    "\\x41",
    "{e}",
    "[[:alpha:]]",
    "(?s:.)",
]
SETS = ["\\w", "\\d", "\\s", "\\W", "\\D", "\\S", "[ab]", "[^a]", "[a-k]", "[^\\W_]", "[\\S1]", "[^\\da]", "[é-ü]"]
PLACES = ["\\b", "\\B", "^", "$", "\\A", "\\Z"]
HARD = ["(?=a)", "(?!b)", "(?<=a)", "(?<!a)", "(?>a*)", "a*+", "(a)\\1", "(b)?(?(1)a|b)"]
FLAGS = [0, re.IGNORECASE, re.DOTALL, re.MULTILINE]


def larger(inner):
    repeated = st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "*?", "*+"]))
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format),
        repeated.map("(?:{0[0]}){0[1]}".format),
    )


simple = st.recursive(st.sampled_from(ATOMS + SETS + PLACES), larger, max_leaves=8)
any_kind = st.recursive(st.sampled_from(ATOMS + SETS + PLACES + HARD), larger, max_leaves=8)
texts = st.lists(st.text(CHARACTERS, max_size=7), max_size=6)


def compiled(pattern, flags):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern, flags)
        except re.error:  # two groups of a hard part have the same number
            return None


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.one_of(simple, any_kind), st.sampled_from(FLAGS), texts)
def test_expressions_match_what_python_matches(pattern, flags, given_texts):
    original = compiled(pattern, flags)
    if original is None:
        return
    try:
        ours = expression(pattern, flags, secs=5)
    except Invalid:
        return
    assert ours.chosen(given_texts) == [original.fullmatch(text) is not None for text in given_texts]
    assert ours.chosen(given_texts, whole=False) == [original.search(text) is not None for text in given_texts]
    assert [list(ours.spans(text)) for text in given_texts] == [
        [found.span() for found in original.finditer(text)] for text in given_texts
    ]


def test_classes_of_characters_are_those_of_python():
    assigned = "".join(c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in {"Cn", "Cs"})
    for shorthand in ("\\w", "\\d", "\\s", "\\W", "\\D", "\\S"):
        assert regex.findall(translated(shorthand).timed, assigned) == re.findall(shorthand, assigned), shorthand


@pytest.mark.parametrize("pattern", ["a.*", "(a+)+b", "^[a-z_]+\\d{1,3}$", "x|y*", "\\bword\\b", "[^abc]"])
def test_plain_expressions_take_linear_time(pattern):
    assert translated(pattern, re.IGNORECASE).linear is not None


@pytest.mark.parametrize(
    "pattern", ["(?=a)", "(?<!a)b", "(a)\\1", "(?>a)", "a*+", "a{2000}", "(?:a{50}){50}", "é", "\\B", "(b)?(?(1)a|b)"]
)
def test_what_only_a_backtracking_engine_knows_has_a_deadline(pattern):
    assert translated(pattern).linear is None


@pytest.mark.parametrize(
    "pattern", ["(", "a{99999999999}", "(" * 3000 + ")" * 3000, "a" * 20_000, "(?i:a)b", "(?:(?:(a)\\1)*)*"]
)
def test_what_no_engine_takes_as_python_does_is_refused(pattern):
    with pytest.raises(Invalid):
        expression(pattern)


@pytest.mark.parametrize("pattern", ["((a|a)+)\\1b", "(?=(a|a)*b)a"])
def test_a_match_ends_with_an_error_when_its_time_is_over(pattern):
    began = time.process_time()
    with pytest.raises(TooSlow, match="more than 0\\.1 seconds"):
        expression(pattern, secs=0.1).occurs("a" * 60)
    assert time.process_time() - began < 1


def test_all_texts_of_an_expression_share_its_time():
    slow = expression("((a|a)+)\\1b", secs=0.1)
    with pytest.raises(TooSlow):
        [slow.chosen(["a" * length] * 50) for length in range(2, 100)]


def test_a_text_is_plain_without_line_feeds_and_other_alphabets():
    assert [is_plain(text) for text in ("a b", "a\nb", "é")] == [True, False, False]
