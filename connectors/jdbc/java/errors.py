"""Translates errors of Java drivers to ours, by SQLSTATE where there is one. Pure."""

from __future__ import annotations

import re

from gluepot.core.errors import ConfigError, EtlError, PermanentError, TransientError

_WAIT_SECS = 5.0
# Connection, rollback, resources, intervention of an operator, system error.
_PASSING_STATES = ("08", "40", "53", "57", "58", "70", "HYT")
_OF_THE_JOB_STATES = ("07", "0A", "21", "22", "23", "28", "2F", "3D", "3F", "42", "44", "45", "72", "90", "S0", "S1")
_ANY_CAUSE = re.compile(r"^(?:Caused by|)\s*:?\s*((?:\w+\.)+\w*(?:Exception|Error)): (.*)$", re.MULTILINE)
_CAUSE = re.compile(
    r"^(?:Caused by: )?((?:\w+\.)+\w*(?:SQL|Sql|Jdbc|Batch)\w*(?:Exception|Error)): (.*)$", re.MULTILINE
)


def translated(state: str, text: str, where: str, *, passes: bool = False) -> EtlError:
    """Return our error for one of a driver.

    Args:
        state: SQLSTATE, or empty.
        text: what the driver says.
        where: what did not work, and at which database.
        passes: whether the driver says that a repetition may work.
    """
    said = one_line(text) or "the driver does not say why"
    if passes or not state or state.startswith(_PASSING_STATES):
        return TransientError(f"{where} did not work: {said}; correct url, user and password, or wait", _WAIT_SECS)
    if state.startswith(_OF_THE_JOB_STATES):
        return ConfigError(
            f"{where} did not work: {said} (SQLSTATE {state}); correct the name, the value or the right."
        )
    return PermanentError(f"{where} did not work: {said} (SQLSTATE {state})")


def cause_of(trace: str) -> str:
    """Return what a driver said, from the trace of a task of Spark; the first line if no driver is in it."""
    found = _CAUSE.findall(trace) or _ANY_CAUSE.findall(trace)
    return one_line(found[-1][1] if found else trace.strip().partition("\n")[0])


def one_line(text: str) -> str:
    """Return a message in one line, without the statement that some drivers add."""
    return " ".join(text.partition("; SQL statement:")[0].split()).rstrip(".;")
