"""Glue's `exclusions`: globs over paths, in the dialect of Java's PathMatcher as far as paths need it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gluepot.core.errors import ConfigError
from gluepot.core.patterns.wildcards import Choice, OneOf, Token, Wild, Wildcards, joined

_TOKEN = re.compile(r"\*\*/?|\*|\?|\[!?[^\]]+\]|\{[^{}]*\}|\\.|.", re.DOTALL)
_WILD: Mapping[str, Wild] = {"**": Wild.ANY, "**/": Wild.FOLDERS, "*": Wild.ANY_IN_NAME, "?": Wild.ONE_IN_NAME}
# The longest key of an object on S3. A longer glob matches no file.
_MOST_CHARACTERS = 1_024


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


@dataclass(frozen=True, slots=True)
class Globs:
    """Globs, matched in linear time.

    Args:
        below: the globs, for paths below the root. A glob without a scheme or a leading slash may begin at any folder.
        whole: the globs, for whole URLs.
    """

    below: tuple[Wildcards, ...]
    whole: tuple[Wildcards, ...]

    def search(self, path: str) -> bool:
        """Return whether a glob matches a path below the root, or the path from any folder of it on."""
        return any(glob.matches(path) for glob in self.below)

    def match(self, url: str) -> bool:
        """Return whether a glob matches a whole URL."""
        return any(glob.matches(url) for glob in self.whole)


def compile_globs(globs: Sequence[str]) -> Globs | None:
    """Return what matches whole URLs and paths below the root; None without globs.

    `*` and `?` stay within a folder, `**` crosses folders, `[ab]`, `[!a]` and `{a,b}` are choices. A glob with a scheme
    or a leading slash is about URLs, any other about the path below the root or any folder of it.

    Raises:
        ConfigError: a glob is too long, or has an invalid class of characters.
    """
    if not globs:
        return None
    whole = tuple(map(_wildcards, globs))
    anywhere = (glob.startswith("/") or "://" in glob for glob in globs)
    below = tuple(
        one if anchored else Wildcards((Wild.FOLDERS, *one.tokens))
        for one, anchored in zip(whole, anywhere, strict=True)
    )
    return Globs(below, whole)


@lru_cache(maxsize=64)
def compile_name(glob: str) -> Wildcards:
    """Return what matches one name of a path.

    Raises:
        ConfigError: the glob is too long, or has an invalid class of characters.
    """
    return _wildcards(glob)


def _wildcards(glob: str) -> Wildcards:
    if len(glob) > _MOST_CHARACTERS:
        raise ConfigError(f"The glob {glob[:50]!r}... has {len(glob):,} characters; use at most {_MOST_CHARACTERS:,}.")
    try:
        return Wildcards(_tokens(glob))
    except re.error as error:
        raise ConfigError(f"The glob {glob!r} has an invalid class of characters ({error}); correct it.") from None


def _tokens(glob: str) -> tuple[Token, ...]:
    return joined([_token(text) for text in _TOKEN.findall(glob)])


def _token(text: str) -> Token:
    if (wild := _WILD.get(text)) is not None:
        return wild
    if len(text) > 1 and text[0] == "[":
        expression = f"[^/{_class(text[2:-1])}]" if text[1] == "!" else f"[{_class(text[1:-1])}]"
        re.compile(expression)
        return OneOf(expression)
    if len(text) > 1 and text[0] == "{":
        return Choice(tuple(map(_tokens, text[1:-1].split(","))))
    return text[1:] if text[0] == "\\" and len(text) > 1 else text


def _class(inner: str) -> str:
    """Keep ranges such as `0-9`, escape everything else."""
    return "".join(character if character == "-" else re.escape(character) for character in inner)
