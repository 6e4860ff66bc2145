"""Counts of which only one thing is asked: `if data_frame.count() > 0`, as nearly all batch functions begin."""

from __future__ import annotations

import dis
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType

_CONSTANTS = frozenset({"LOAD_CONST", "LOAD_SMALL_INT"})
_BESIDE = frozenset({"CACHE", "EXTENDED_ARG"})


def is_compared_with_zero(caller: FrameType | None) -> bool:
    """Tell whether what a call returns is compared with 0 and then gone, so that any positive number will do.

    It is read from the instructions that will run, not from the source, which may have changed since. What is not known
    for certain is False: `0 < count()`, a variable in between, other numbers, instructions of another Python.

    Args:
        caller: the frame that waits for the call.
    """
    return caller is not None and _is_followed_by_comparison(caller.f_code, caller.f_lasti)


@lru_cache(maxsize=256)
def _is_followed_by_comparison(code: CodeType, call_offset: int) -> bool:
    later = (one for one in dis.get_instructions(code) if one.offset > call_offset and one.opname not in _BESIDE)
    match list(islice(later, 2)):
        case [constant, comparison]:
            is_zero = constant.opname in _CONSTANTS and constant.argval == 0 and type(constant.argval) is int
            return is_zero and comparison.opname == "COMPARE_OP"
        case _:
            return False
