"""Finds the fields of a record that a user's function reads, by analysing its code.

Making Python objects of every column is most of what a Filter costs, and most filters look at one field or two.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

# With these a function can see its record without naming it.
_SEE_ALL = frozenset({"dir", "eval", "exec", "locals", "vars"})
_MARKS = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "RESUME"})


def fields_read(function: Callable[[Any], Any]) -> frozenset[str] | None:
    """Return the only fields that the function can read; None if its code does not show this, so it may read any.

    The code shows it if the record is used only as `record["name"]` or `record.name`.

    Args:
        function: takes a record first.
    """
    return _read_by(function.__code__) if isinstance(function, FunctionType) else None


@lru_cache(maxsize=64)
def _read_by(code: CodeType) -> frozenset[str] | None:
    if not code.co_argcount or _SEE_ALL & {*code.co_names}:
        return None
    record, found = code.co_varnames[0], set()
    steps = [one for one in dis.get_instructions(code) if one.opname not in _MARKS]
    for at, step in enumerate(steps):
        if record not in (step.argval if isinstance(step.argval, tuple) else (step.argval,)):
            continue
        match [(one.opname, one.argval) for one in steps[at : at + 3]]:
            case [("LOAD_FAST", _), ("LOAD_CONST", str() as name), ("BINARY_SUBSCR", _)]:
                found.add(name)
            case [("LOAD_FAST", _), ("LOAD_ATTR", str() as name), *_] if not hasattr(dict, name):
                found.add(name)
            case _:
                return None
    return frozenset(found)
