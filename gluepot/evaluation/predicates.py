"""Says what is wrong with the `where` of a rule, in one sentence. Pure."""

from __future__ import annotations

import re

from gluepot.quality.dqdl.ruleset import Rule

# Such as `[PARSE_SYNTAX_ERROR] Syntax error at or near '>'. SQLSTATE: 42601 (line 1, pos 5)`.
_CONDITION = re.compile(r"^\[[A-Z0-9_.]+\] ")
_END = re.compile(r"\.?(?:\s*SQLSTATE: \w+)?[;\s]*(?:\(?line (?P<line>\d+),? pos (?P<pos>\d+)\)?)?[;\s]*$")
_SUGGESTION = re.compile(r"\. Did you mean one of the following\? \[(.*)\]")


def invalid_where(rule: Rule, error: str) -> str:
    """Return the sentence.

    Args:
        rule: the rule.
        error: the first line of what Spark says.
    """
    text = _CONDITION.sub("", error)
    end = _END.search(text)
    assert end is not None
    text = _SUGGESTION.sub(r"; did you mean one of \1?", text[: end.start()])
    place = ""
    if end["pos"]:
        line = f"line {end['line']}, " if end["line"] != "1" else ""
        place = f" at {line}character {int(end['pos']) + 1}"
    stop = "" if text.endswith("?") else "."
    return f"Line {rule.line}: rule {rule} has provided an invalid where clause{place}: {text}{stop}"
