"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: `1 shard`, `2 shards`.

    Args:
        number: how many.
        noun: of one.
        nouns: of several, where that is not the noun with an s.
    """
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"
