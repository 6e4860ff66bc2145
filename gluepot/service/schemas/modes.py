"""Compatibility modes: which versions of a schema must be able to read which others (docs/glue 11.10). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from gluepot.service.schemas.formats import why_unreadable
from gluepot.service.schemas.versions import SchemaVersion

NONE, DISABLED = "NONE", "DISABLED"
_BACKWARD, _FORWARD = ("BACKWARD", "FULL"), ("FORWARD", "FULL")


def why_incompatible(
    mode: str, data_format: str, text: str, known: Sequence[SchemaVersion], checkpoint: int
) -> str | None:
    """Return why a schema may not follow others; None if it may.

    Args:
        mode: of the schema, such as `BACKWARD_ALL`.
        data_format: of the schema.
        text: the new definition, which is valid.
        known: all versions so far, the oldest first.
        checkpoint: the oldest version that `..._ALL` looks at.
    """
    available = [one for one in known if one.is_available]
    kind, _, of_all = mode.partition("_")
    compared = [one for one in available if one.number >= checkpoint] if of_all else available[-1:]
    for one in compared:
        if kind in _BACKWARD and (why := why_unreadable(data_format, text, one.definition)) is not None:
            return f"Readers with the new version cannot read records of version {one.number}: {why}"
        if kind in _FORWARD and (why := why_unreadable(data_format, one.definition, text)) is not None:
            return f"Readers with version {one.number} cannot read records of the new version: {why}"
    return None
