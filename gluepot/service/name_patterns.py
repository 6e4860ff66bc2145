"""Patterns of names, as GetTables and GetUserDefinedFunctions take them. Pure."""

from __future__ import annotations

import re

from gluepot.core.patterns.expressions import Expression, expression
from gluepot.core.patterns.syntax import Invalid
from gluepot.service.errors import invalid

# A star after one of these repeats it, as in a regular expression; after a letter it stands for any characters, as Hive
# has it. Clients send both: `sales.*` and `sales*`.
_REPEATED = ".])}\\"


def name_pattern(text: str) -> Expression:
    """Return what matches whole names, whatever their case. It is for one request, whose time it counts.

    Args:
        text: a regular expression in which a star may also stand for any characters; empty matches all names.

    Raises:
        ServiceError: `InvalidInputException`, because it is not a regular expression.
    """
    spelled = re.sub(rf"(^|[^{re.escape(_REPEATED)}])\*", r"\1.*", text or "*")
    try:
        return expression(spelled, re.IGNORECASE)
    except Invalid as error:
        raise invalid(f"The pattern {text!r} is not a regular expression ({error}); correct it.") from None
