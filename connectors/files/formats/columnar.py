"""What the readers of formats with columns share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gluepot.connectors.files.contracts import OpenFile
from gluepot.core.errors import PermanentError

# Rows of one chunk, where they take little memory.
BATCH_ROWS = 64 << 10


def present(names: Sequence[str], wanted: frozenset[str] | None) -> list[str] | None:
    """Return the names to read; all of them where a file has none of those, for its rows count all the same."""
    return None if wanted is None else [name for name in names if name.lower() in wanted] or None


def refuse_twins(names: Sequence[str], file: OpenFile, kind: str) -> None:
    """Raise a `PermanentError` if two columns have one name, since a record has each name once."""
    (twin, count) = Counter(names).most_common(1)[0] if names else ("", 0)
    if count > 1:
        raise PermanentError(
            f"The {kind} file {file.place} cannot be read, because it has two columns '{twin}'; write it with other"
            " names, or leave it out with exclusions"
        )


def unreadable(file: OpenFile, kind: str, magic: bytes, error: Exception) -> PermanentError:
    """Return the error of a file that is not what its format says.

    Args:
        file: to seek in.
        kind: the name of the format.
        magic: the bytes that each file of the format begins with.
        error: that the reader raised.
    """
    try:
        file.plain.seek(0)
        begins_well = file.plain.read(len(magic)) == magic
    except (OSError, ValueError):
        begins_well = False
    is_what = f"is a {kind} file that cannot be read" if begins_well else f"is not in the format {kind}"
    return PermanentError(f"{file.place} {is_what} ({error}); write it again, or skip it with exclusions")
