"""Reduces an exception to one line, because errors from a worker or from Java come with stack traces."""

from __future__ import annotations

_TRACEBACK = "Traceback (most recent call last):"
LONGEST_CHARS = 2_000


def failure_text(error: BaseException) -> str:
    """Return `Type: message`; if Python in a worker raised the error, the type and message are the worker's.

    Args:
        error: the error of the batch function.
    """
    text = _from_worker(str(error)) or f"{type(error).__name__}: {_first_line(str(error))}"
    return text[:LONGEST_CHARS]


def _from_worker(text: str) -> str | None:
    """Return the exception line after the last Python traceback in a text; None if there is none."""
    _, found, trace = text.rpartition(_TRACEBACK)
    if not found:
        return None
    lines = trace.splitlines()
    return next((line.strip() for line in lines if line and not line[0].isspace()), None)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
