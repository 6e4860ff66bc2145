"""Globs, wildcards and LIKE in linear time, compared with regular expressions."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.files.source.globs import compile_globs, compile_name
from gluepot.core.errors import ConfigError
from gluepot.core.patterns.wildcards import event_wildcard, like

PARTS = {
    "*": "[^/]*",
    "**": ".*",
    "**/": "(?:.*/)?",
    "?": "[^/]",
    "[ab]": "[ab]",
    "[!a]": "[^/a]",
    "[a-b]": "[a-b]",
    "{a,b/}": "(?:a|b/)",
    "{a*,b?b}": "(?:a[^/]*|b[^/]b)",
    "\\*": "\\*",
    "a": "a",
    "b.": "b\\.",
    "/": "/",
    "é": "é",
}
texts = st.text("aab./*\né", max_size=12)


def expected(parts):
    """The regular expression that the globs were before. A star after a star makes another wildcard."""
    return re.compile("".join(PARTS[part] for part in parts), re.DOTALL)


@st.composite
def globs(draw):
    parts = draw(st.lists(st.sampled_from(sorted(PARTS)), max_size=7))
    return [part for at, part in enumerate(parts) if not at or not (parts[at - 1][-1] == "*" and part[0] in "*/")]


@given(globs(), texts)
def test_globs_match_what_their_regular_expression_matches(parts, text):
    glob, whole = compile_globs(["".join(parts)]), expected(parts)
    assert glob.match(text) == (whole.fullmatch(text) is not None)
    anywhere = f"(?:\\A|(?<=/)){whole.pattern}\\Z"
    if not "".join(parts).startswith("/"):
        assert glob.search(text) == (re.search(anywhere, text, re.DOTALL) is not None)


@given(st.text("%_aab\n.", max_size=8), st.text("aab%_\n.", max_size=8))
def test_like_matches_what_its_regular_expression_matches(pattern, text):
    spelled = "".join({"%": ".*", "_": "."}.get(one) or re.escape(one) for one in pattern)
    assert like(pattern).matches(text) == (re.fullmatch(spelled, text, re.DOTALL) is not None)


@given(st.text("*\\aab\n", max_size=8), st.text("aab*\\\n", max_size=8))
def test_event_wildcards_match_what_their_regular_expression_matches(pattern, text):
    parts = re.findall(r"\\[*\\]|.", pattern, re.DOTALL)
    spelled = "".join(".*" if one == "*" else re.escape(one[-1]) for one in parts)
    assert event_wildcard(pattern).matches(text) == (re.fullmatch(spelled, text, re.DOTALL) is not None)


@pytest.mark.parametrize(
    "matches",
    [
        event_wildcard("*a" * 20 + "*b").matches,
        like("%a" * 20 + "%b").matches,
        compile_name("*a" * 20 + "*b").matches,
        compile_globs(["**a*" * 20 + "b"]).search,
        compile_globs(["/{a*,a*a*}" * 3 + "/**a**a**a**a**a**b"]).search,
    ],
)
def test_stars_take_linear_time(matches):
    began = time.process_time()
    assert not matches("a" * 1000 + "bc")
    assert not matches("a/" * 500 + "bc")
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("glob", ["[b-a]", "a" * 2000])
def test_a_glob_that_cannot_be_matched_is_refused(glob):
    with pytest.raises(ConfigError, match="The glob"):
        compile_globs([glob])
