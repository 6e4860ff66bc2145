"""Errors of ours that were raised in a worker: on the driver only their text is left, so they carry a mark in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from gluepot.core.errors import EtlError

T = TypeVar("T")

_MARK = "gluepot-raised:"


def marked(items: Iterable[T]) -> Iterator[T]:
    """Pass a task's items on; an error of ours that ends them gets the mark, as a note of its traceback."""
    try:
        yield from items
    except EtlError as error:
        error.add_note(f"{_MARK} {type(error).__name__}")
        raise


def is_ours(error: BaseException) -> bool:
    """Tell whether an error is ours, came out of a task of ours, or was raised because of such a one."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, EtlError) or _MARK in str(seen):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
