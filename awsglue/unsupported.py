"""Names that Glue has and this version does not: they say so, by name, instead of failing from nowhere."""

from __future__ import annotations

from gluepot.core.errors import NotSupported


class NotSupportedHere(NotSupported, AttributeError):  # type: ignore[misc]  # both call their argument `name`
    """Also an AttributeError, so that scripts that look with `hasattr` before they use a newer name go on."""


GLUE_CONTEXT = frozenset({
    "getSampleStreamingDynamicFrame", "transition_table", "transition_s3_path",
    "start_transaction", "commit_transaction", "cancel_transaction",
})  # fmt: skip


def missing(owner: str, name: str, known: frozenset[str]) -> AttributeError:
    """Return the error for an attribute that is not there: Glue's own names get the sentence that says so."""
    if name in known:
        return NotSupportedHere(f"{owner}.{name}")
    return AttributeError(f"{owner!r} object has no attribute {name!r}")
