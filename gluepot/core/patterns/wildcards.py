r"""Globs, wildcards and LIKE, matched in linear time. Pure.

A pattern is a sequence of tokens. The dialects differ only in how they write the tokens; `gluepot` has three of them:
the globs of paths, `*` of event patterns, and `%` and `_` of SQL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache

from gluepot.core.patterns.automaton import Automaton, Builder, Fragment, Reads, optional


class Wild(Enum):
    """What a wildcard stands for."""

    ANY = "any characters"
    ANY_IN_NAME = "any characters but slashes"
    ONE = "one character"
    ONE_IN_NAME = "one character but a slash"
    FOLDERS = "nothing, or any characters and a slash"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One character of a class.

    Args:
        expression: the class as a regular expression for one character.
    """

    expression: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several patterns."""

    patterns: tuple[tuple[Token, ...], ...]


Token = str | Wild | OneOf | Choice
"""A literal text, a wildcard, a class, or a choice."""


@dataclass(frozen=True)
class Wildcards:
    """A pattern with wildcards.

    Args:
        tokens: its parts, in order.
    """

    tokens: tuple[Token, ...]

    def matches(self, text: str) -> bool:
        """Return whether the pattern matches the whole text, in time that grows linearly with the text."""
        if self._is_about_name:
            text = text[text.rfind("/") + 1 :]
        for literal in self._literals:
            if literal not in text:
                return False
        if self._ends is not None:
            return _fits_ends(text, *self._ends)
        return self._automaton.matches(text)

    @cached_property
    def _is_about_name(self) -> bool:
        """Whether the pattern begins with any folders, and what follows cannot match a slash."""
        return self.tokens[:1] == (Wild.FOLDERS,) and all(map(_is_in_name, self.tokens[1:]))

    @cached_property
    def _parts(self) -> tuple[Token, ...]:
        """The tokens that are matched one by one."""
        return self.tokens[1:] if self._is_about_name else self.tokens

    @cached_property
    def _literals(self) -> tuple[str, ...]:
        """The strings that a text must contain. A search for them rules out most texts, at little cost."""
        return tuple(dict.fromkeys(one for one in self._parts if isinstance(one, str)))

    @cached_property
    def _ends(self) -> tuple[str, Wild, str] | None:
        """The literals before and after the only wildcard, if it is a star: such patterns need no automaton."""
        stars = [at for at, one in enumerate(self._parts) if not isinstance(one, str)]
        if len(stars) != 1 or (star := self._parts[stars[0]]) not in {Wild.ANY, Wild.ANY_IN_NAME}:
            return None
        assert isinstance(star, Wild)
        before, after = self._parts[: stars[0]], self._parts[stars[0] + 1 :]
        return "".join(map(str, before)), star, "".join(map(str, after))

    @cached_property
    def _automaton(self) -> Automaton:
        builder = Builder()
        return builder.automaton(_fragment(builder, self._parts))


def _fits_ends(text: str, before: str, star: Wild, after: str) -> bool:
    end = len(text) - len(after)
    if end < len(before) or not text.startswith(before) or not text.endswith(after):
        return False
    return star is Wild.ANY or text.find("/", len(before), end) < 0


def _is_in_name(token: Token) -> bool:
    """Return whether a token cannot match a slash."""
    if isinstance(token, str):
        return "/" not in token
    return token in {Wild.ANY_IN_NAME, Wild.ONE_IN_NAME}


def joined(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return the same pattern with fewer tokens: adjacent literals are one, as are adjacent equal stars."""
    kept: list[Token] = []
    for token in tokens:
        if isinstance(token, str) and kept and isinstance(kept[-1], str):
            kept[-1] += token
        elif token in {Wild.ANY, Wild.ANY_IN_NAME} and kept and kept[-1] is token:
            continue
        elif token != "":
            kept.append(token)
    return tuple(kept)


@lru_cache(maxsize=64)
def event_wildcard(text: str) -> Wildcards:
    r"""Return the pattern of an event rule: `*` stands for any characters; `\*` and `\\` are the characters."""
    parts = re.findall(r"\\[*\\]|.", text, re.DOTALL)
    return Wildcards(joined([Wild.ANY if one == "*" else one[-1] for one in parts]))


@lru_cache(maxsize=64)
def like(text: str, *, one: str = "_") -> Wildcards:
    """Return the pattern of SQL's LIKE: `%` stands for any characters.

    Args:
        text: the pattern.
        one: what stands for one character; empty if nothing does.
    """
    wild: dict[str, Token] = {"%": Wild.ANY, **({one: Wild.ONE} if one else {})}
    return Wildcards(joined([wild.get(character, character) for character in text]))


def _fragment(builder: Builder, tokens: Sequence[Token]) -> Fragment:
    return builder.sequence(part for token in tokens for part in _fragments(builder, token))


def _fragments(builder: Builder, token: Token) -> Sequence[Fragment]:
    match token:
        case str():
            return [builder.one(character.__eq__) for character in token]
        case OneOf(expression):
            return [builder.one(_class(expression))]
        case Choice(patterns):
            return [builder.either([_fragment(builder, one) for one in patterns])]
        case Wild.ANY:
            return [builder.one(_any, repeated=True)]
        case Wild.ANY_IN_NAME:
            return [builder.one(_no_slash, repeated=True)]
        case Wild.ONE:
            return [builder.one(_any)]
        case Wild.ONE_IN_NAME:
            return [builder.one(_no_slash)]
        case Wild.FOLDERS:
            return [optional(builder.sequence([builder.one(_any, repeated=True), builder.one("/".__eq__)]))]


def _any(_: str) -> bool:
    return True


def _no_slash(character: str) -> bool:
    return character != "/"


def _class(expression: str) -> Reads:
    compiled = re.compile(expression, re.DOTALL)
    return lambda character: compiled.fullmatch(character) is not None
