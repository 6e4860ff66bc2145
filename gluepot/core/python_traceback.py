"""Reads the traceback of a worker's Python error in the text of an error of Spark."""

from __future__ import annotations

_BEGIN = "Traceback (most recent call last):"


def last_traceback(text: str) -> tuple[list[str], str] | None:
    """Return the last Python traceback in a text: the lines of its frames, and type and message of the exception.

    Args:
        text: what Py4J or PySpark says, with stack traces of Java and of workers.

    Returns:
        None if there is no traceback, or if it is cut off before its exception.
    """
    _, found, trace = text.rpartition(_BEGIN)
    frames: list[str] = []
    for line in filter(None, trace.splitlines() if found else ()):
        if not line[0].isspace():
            return frames, line.strip()
        frames.append(line)
    return None
