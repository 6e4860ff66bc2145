"""What the readers of formats with columns share."""

from __future__ import annotations

from collections.abc import Sequence

from gluepot.core.errors import PermanentError

# Rows of one chunk, where they take little memory.
BATCH_ROWS = 64 << 10


def present(names: Sequence[str], wanted: frozenset[str] | None) -> list[str] | None:
    """Return the names to read; all of them where a file has none of those, for its rows count all the same."""
    return None if wanted is None else [name for name in names if name.lower() in wanted] or None


def unreadable(place: str, kind: str, error: Exception) -> PermanentError:
    """Return the error of a file that is not what its format says."""
    return PermanentError(
        f"{place} is no {kind} file, or was not written to its end ({error}); write it again, or leave it out with"
        " exclusions"
    )
