"""What an exception says, in one line: out of a worker, or out of Java, it comes with stacks around it."""

from __future__ import annotations

_TRACEBACK = "Traceback (most recent call last):"
LONGEST_CHARS = 2_000


def failure_text(error: BaseException) -> str:
    """Return `Type: message`; of an error that a worker's Python raised, that one's.

    Args:
        error: of the batch function.
    """
    text = _from_worker(str(error)) or f"{type(error).__name__}: {_first_line(str(error))}"
    return text[:LONGEST_CHARS]


def _from_worker(text: str) -> str | None:
    """Return the exception at the end of the last Python traceback in a text, None where there is none."""
    _, found, trace = text.rpartition(_TRACEBACK)
    if not found:
        return None
    lines = trace.splitlines()
    return next((line.strip() for line in lines if line and not line[0].isspace()), None)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
