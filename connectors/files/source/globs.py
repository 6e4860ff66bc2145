"""Glue's `exclusions`: globs over paths, in the dialect of Java's PathMatcher as far as paths need it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache

from gluepot.core.errors import ConfigError

_TOKEN = re.compile(r"\*\*/?|\*|\?|\[!?[^\]]+\]|\{[^{}]*\}|\\.|.", re.DOTALL)


def read_exclusions(given: object) -> tuple[str, ...]:
    """Return the globs of the option: JSON text of a list as in Glue, a list, or one glob.

    Raises:
        ConfigError: it is none of these.
    """
    if isinstance(given, str):
        text = given.strip()
        if not text.startswith("["):
            return (text,) if text else ()
        try:
            given = json.loads(text)
        except ValueError as error:
            raise ConfigError(f'exclusions is {text!r}; use a JSON list of globs such as "["**.pdf"]".') from error
    if isinstance(given, Sequence) and all(isinstance(one, str) for one in given):
        return tuple(given)
    raise ConfigError(f'exclusions is {given!r}; use a JSON list of globs such as "["**.pdf"]".')


def compile_globs(globs: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern for `search` over whole URLs and over paths below the root; None without globs.

    `*` and `?` stay within a folder, `**` crosses folders, `[ab]`, `[!a]` and `{a,b}` are choices. A glob with a scheme
    or a leading slash is about URLs, any other about the path below the root or any folder of it.
    """
    if not globs:
        return None
    return re.compile("|".join(f"(?:{_one(glob)})" for glob in globs), re.DOTALL)


@cache
def compile_name(glob: str) -> re.Pattern[str]:
    """Return a pattern for `fullmatch` over one name of a path."""
    return re.compile(_translated(glob), re.DOTALL)


def _one(glob: str) -> str:
    anchored = glob.startswith("/") or "://" in glob
    start = r"\A" if anchored else r"(?:\A|(?<=/))"
    return start + _translated(glob) + r"\Z"


def _translated(glob: str) -> str:
    return "".join(map(_token, _TOKEN.findall(glob)))


def _token(token: str) -> str:
    match token:
        case "**":
            return ".*"
        case "**/":
            return "(?:.*/)?"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
    if len(token) > 1 and token[0] == "[":
        return f"[^/{_class(token[2:-1])}]" if token[1] == "!" else f"[{_class(token[1:-1])}]"
    if len(token) > 1 and token[0] == "{":
        return "(?:" + "|".join(map(_translated, token[1:-1].split(","))) + ")"
    return re.escape(token[1:] if token[0] == "\\" and len(token) > 1 else token)


def _class(inner: str) -> str:
    """Keep ranges such as `0-9`, escape everything else."""
    return "".join(character if character == "-" else re.escape(character) for character in inner)
