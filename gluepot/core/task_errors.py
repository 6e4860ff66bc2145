"""Marks our own errors that a worker raises. Only their text reaches the driver, so the mark is part of the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from gluepot.core.errors import EtlError

T = TypeVar("T")

_MARK = "gluepot-raised:"


def marked(items: Iterable[T]) -> Iterator[T]:
    """Pass a task's items on. If one of our own errors ends them, it gets the mark, as a note in its traceback."""
    try:
        yield from items
    except EtlError as error:
        error.add_note(f"{_MARK} {type(error).__name__}")
        raise


def is_ours(error: BaseException) -> bool:
    """Return whether an error is one of ours, came from one of our tasks, or was caused by such an error."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, EtlError) or _MARK in str(seen):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
