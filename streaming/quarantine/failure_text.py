"""Reduces an exception to one line, because errors from a worker or from Java come with stack traces."""

from __future__ import annotations

from gluepot.core.python_traceback import last_traceback

LONGEST_CHARS = 2_000


def failure_text(error: BaseException) -> str:
    """Return `Type: message`; if Python in a worker raised the error, the type and message are the worker's.

    Args:
        error: the error of the batch function.
    """
    in_worker = last_traceback(str(error))
    text = in_worker[1] if in_worker else f"{type(error).__name__}: {_first_line(str(error))}"
    return text[:LONGEST_CHARS]


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
