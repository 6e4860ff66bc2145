"""Patterns of names, as GetTables and GetUserDefinedFunctions take them. Pure."""

from __future__ import annotations

import re

from gluepot.service.errors import invalid

# A star after one of these repeats it, as in a regular expression; after a letter it stands for any characters, as Hive
# has it. Clients send both: `sales.*` and `sales*`.
_REPEATED = ".])}\\"


def name_pattern(text: str) -> re.Pattern[str]:
    """Return what matches whole names, whatever their case.

    Args:
        text: a regular expression in which a star may also stand for any characters; empty matches all names.

    Raises:
        ServiceError: `InvalidInputException`, because it is no regular expression.
    """
    spelled = re.sub(rf"(^|[^{re.escape(_REPEATED)}])\*", r"\1.*", text or "*")
    try:
        return re.compile(spelled, re.IGNORECASE)
    except re.error as error:
        raise invalid(f"The pattern {text!r} is not a regular expression ({error}); correct it.") from None
