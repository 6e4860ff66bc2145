"""Errors for names that Glue has and this version does not support; they say so by name."""

from __future__ import annotations

from gluepot.core.errors import NotSupported


class NotSupportedHere(NotSupported, AttributeError):  # type: ignore[misc]  # both call their argument `name`
    """Also an AttributeError, so that scripts can test with `hasattr` whether a newer name exists."""


GLUE_CONTEXT = frozenset({"transition_s3_path", "transition_table"})


def missing(owner: str, name: str, known: frozenset[str]) -> AttributeError:
    """Return the error for a missing attribute; for one of Glue's names, the error that it is not supported here."""
    if name in known:
        return NotSupportedHere(f"{owner}.{name}")
    return AttributeError(f"{owner!r} object has no attribute {name!r}")
