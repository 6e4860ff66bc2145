"""Trims texts as Spark does before it reads them. Neither way removes white space beyond ASCII."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast.masks import filled

# Java's String.trim, which Spark uses for floats and decimals.
BLANKS = "".join(map(chr, range(0x21)))
# UTF8String.trimAll of Spark, for all other types: white space and control characters.
CONTROLS = BLANKS + "\x7f"


def trimmed(texts: pa.StringArray, characters: str) -> pa.StringArray:
    """Return the texts without these characters at both ends; null if nothing is left."""
    return filled(pc.ascii_trim(texts, characters=characters))


def read_at_once(
    texts: pa.StringArray, characters: str, read: Callable[[pa.StringArray], pa.Array | None]
) -> tuple[pa.StringArray, pa.Array | None]:
    """Try to read all texts as they are, then without some characters at their ends.

    Args:
        texts: any texts.
        characters: what to remove at both ends.
        read: returns None if it cannot read one of the texts.

    Returns:
        The texts that were read, or the trimmed ones; and what they say, or None.
    """
    texts = filled(texts)
    if (found := read(texts)) is not None:
        return texts, found
    stripped = trimmed(texts, characters)
    return stripped, None if stripped.equals(texts) else read(stripped)
