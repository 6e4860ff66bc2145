"""Regular expressions that cannot stop a process: each match ends in bounded time, and other threads continue.

Expressions have the semantics of Python's module `re`, which can take exponential time and blocks all other threads.
RE2 matches plain strings in linear time. The package `regex` matches all others, with a timeout. Both let other threads
run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa
import regex

from gluepot.core.clock import Clock, SystemClock
from gluepot.core.errors import ConfigError
from gluepot.core.patterns.syntax import Invalid, Translation, is_plain, translated

MATCH_SECS = 0.25
"""The time of one call. Matches that end take microseconds."""

# RE2 cannot be stopped. This many characters take it 50 ms at most, with the largest expression.
_MOST_AT_ONCE = 10_000
# `regex` counts its time in processor ticks of the whole process, and none of it can be less than one tick.
_LEAST_SECS = 0.01


class TooSlow(ConfigError):
    """A regular expression did not finish within its time limit."""


class Expression:
    """A regular expression.

    Args:
        pattern: as the module `re` takes it.
        translation: the same for the engines.
        secs: how long a call may take.
        clock: tells the time.
    """

    def __init__(self, pattern: str, translation: Translation, secs: float, clock: Clock) -> None:
        self.pattern = pattern
        self._translation = translation
        self._secs, self._clock = secs, clock
        self._timed = _timed(translation)
        self._spent_secs = 0.0

    def matches(self, text: str) -> bool:
        """Return whether the expression matches the whole text.

        Raises:
            TooSlow: there is no answer in time.
        """
        return self._is_match(text, whole=True)

    def occurs(self, text: str) -> bool:
        """Return whether the expression matches somewhere in the text.

        Raises:
            TooSlow: there is no answer in time.
        """
        return self._is_match(text, whole=False)

    def chosen(self, texts: Sequence[str], *, whole: bool = True) -> list[bool]:
        """Return for each text whether the expression matches it. All calls together have the time of one match.

        Args:
            texts: any number.
            whole: nothing may stand before or behind a match.

        Raises:
            TooSlow: there are no answers in time.
        """
        began = self._clock.monotonic()
        until = began + self._secs - self._spent_secs
        answers: list[bool] = [False] * len(texts)
        plain: list[int] = []
        if self._translation.linear is not None:
            plain = [at for at, text in enumerate(texts) if is_plain(text) and len(text) <= _MOST_AT_ONCE]
        for batch in _batches(plain, texts):
            self._left(until, texts[batch[0]])
            for at, answer in zip(batch, self._linear([texts[at] for at in batch], whole=whole), strict=True):
                answers[at] = answer
        linear = set(plain)
        for at, text in enumerate(texts):
            if at not in linear:
                answers[at] = self._found(text, self._left(until, text), whole=whole) is not None
        self._spent_secs += self._clock.monotonic() - began
        return answers

    def first(self, text: str) -> tuple[int, int] | None:
        """Return where the first match in a text begins and ends; None if there is none.

        Raises:
            TooSlow: there is no answer in time.
        """
        found = self._found(text, self._secs, whole=False)
        return None if found is None else found.span()

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where the matches in a text begin and end.

        Raises:
            TooSlow: they are not all found in time.
        """
        try:
            for found in self._timed.finditer(text, timeout=self._secs, concurrent=True):
                yield found.span()
        except TimeoutError:
            raise self._too_slow(text) from None

    def _is_match(self, text: str, *, whole: bool) -> bool:
        if self._translation.linear is not None and is_plain(text) and len(text) <= _MOST_AT_ONCE:
            return self._linear([text], whole=whole)[0]
        return self._found(text, self._secs, whole=whole) is not None

    def _linear(self, texts: Sequence[str], *, whole: bool) -> list[bool]:
        import pyarrow.compute as pc  # noqa: PLC0415  it takes long to load, and many patterns are never matched

        expression = self._translation.linear
        expression = f"\\A(?:{expression})\\z" if whole else expression
        ignores_case = bool(self._translation.flags & re.IGNORECASE)
        found = pc.match_substring_regex(pa.array(texts, pa.string()), expression, ignore_case=ignores_case)
        answers: list[bool] = found.to_pylist()
        return answers

    def _found(self, text: str, secs: float, *, whole: bool) -> Any:
        search = self._timed.fullmatch if whole else self._timed.search
        try:
            return search(text, timeout=secs, concurrent=True)
        except TimeoutError:
            raise self._too_slow(text) from None

    def _left(self, until: float, text: str) -> float:
        left = until - self._clock.monotonic()
        if left <= 0:
            raise self._too_slow(text)
        return max(left, _LEAST_SECS)

    def _too_slow(self, text: str) -> TooSlow:
        return TooSlow(
            f"The regular expression {_short(self.pattern)} takes more than {self._secs:g} seconds on"
            f" {_short(text)}; use fewer nested repetitions."
        )


def expression(pattern: str, flags: int = 0, *, secs: float = MATCH_SECS, clock: Clock | None = None) -> Expression:
    """Return a regular expression.

    Args:
        pattern: as the module `re` takes it.
        flags: of `re`, such as IGNORECASE.
        secs: how long a call may take.
        clock: tells the time.

    Raises:
        Invalid: it is not a regular expression, or cannot be matched in bounded time; the message says why.
    """
    return Expression(pattern, _translated(pattern, flags), secs, clock or SystemClock())


@lru_cache(maxsize=64)
def _translated(pattern: str, flags: int) -> Translation:
    return translated(pattern, flags)


@lru_cache(maxsize=64)
def _timed(translation: Translation) -> Any:
    try:
        return regex.compile(translation.timed, regex.V0 | (translation.flags & re.IGNORECASE))
    except (regex.error, RecursionError, OverflowError) as error:
        raise Invalid(str(error)) from None


def _batches(chosen: Sequence[int], texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the places of texts that have a few thousand characters together."""
    batch: list[int] = []
    size = 0
    for at in chosen:
        if batch and size + len(texts[at]) > _MOST_AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(at)
        size += len(texts[at]) + 1
    if batch:
        yield batch


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


_SHOWN = 80
