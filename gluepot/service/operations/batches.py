"""Lists of names in a request, for which AWS's model has no limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.service.errors import invalid

MOST_NAMES = 1000


def names_in(request: Mapping[str, Any], member: str) -> list[str]:
    """Return the names of a member of a request, each once.

    Raises:
        ServiceError: `InvalidInputException`, because there are too many for one call.
    """
    names = list(dict.fromkeys(request[member]))
    if len(names) > MOST_NAMES:
        raise invalid(f"{member} has {len(names)} names; give at most {MOST_NAMES} in a call.")
    return names
