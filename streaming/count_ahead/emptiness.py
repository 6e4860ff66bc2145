"""Recognises counts that only check for emptiness: `if data_frame.count() > 0`, as nearly all batch functions begin."""

from __future__ import annotations

import dis
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType

_CONSTANTS = frozenset({"LOAD_CONST", "LOAD_SMALL_INT"})
_BESIDE = frozenset({"CACHE", "EXTENDED_ARG"})


def is_compared_with_zero(caller: FrameType | None) -> bool:
    """Tell whether the caller only compares the call's result with 0, so that any positive number will do.

    This reads the caller's bytecode, not its source file, which may have changed since. The answer is False in all
    uncertain cases: `0 < count()`, a variable in between, other numbers, unknown bytecode of another Python version.

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
