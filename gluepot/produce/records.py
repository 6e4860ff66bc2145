"""What is sent: payloads that are encoded before the clock starts, keys, numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, cycle, repeat
from pathlib import Path
from typing import TypeAlias

import numpy as np

from gluepot.core.errors import ConfigError

Record: TypeAlias = tuple[bytes, bytes | None]
"""Value and key."""

DEMO_PAYLOADS = 20_000
KEY_DRAWS = 1 << 16
"""Keys are drawn once and repeated in this order: enough for the rarest of a thousand to come."""


def demo_payloads(how_many: int = DEMO_PAYLOADS) -> list[bytes]:
    """Return the first of the demo's click events, those broken on purpose left out."""
    from gluepot.produce.click_events import events  # noqa: PLC0415  the demo is a user of this package

    return [one.payload for one in events(how_many) if one.good]


def file_payloads(path: Path) -> list[bytes]:
    """Return the records of a file, one a line.

    Raises:
        ConfigError: there is no such file, or no record in it.
    """
    if not path.is_file():
        raise ConfigError(f"There is no file {path}; give one with a record on each line.")
    payloads = [line for line in path.read_bytes().splitlines() if line.strip()]
    if not payloads:
        raise ConfigError(f"{path} holds no record; write one on each line.")
    return payloads


def keys(how_many: int, skew: float, seed: int) -> Sequence[bytes]:
    """Return keys in the order in which they are used, again and again.

    Args:
        how_many: different ones: `key-0`, the most frequent, to `key-<n-1>`.
        skew: exponent of Zipf's law: the k-th key comes `k ** -skew` times as often as the first; 0 for all alike.
        seed: the same one gives the same keys.

    Raises:
        ConfigError: a number is out of range.
    """
    if how_many < 1 or skew < 0:
        raise ConfigError(f"--keys is {how_many} and --skew {skew:g}; use 1 or more keys and a skew of 0 or more.")
    weights = np.arange(1, how_many + 1, dtype=float) ** -skew
    drawn = np.random.default_rng(seed).choice(how_many, KEY_DRAWS, p=weights / weights.sum())
    return [b"key-%d" % number for number in drawn.tolist()]


def records(
    payloads: Sequence[bytes], drawn_keys: Sequence[bytes] | None = None, number_field: str | None = None
) -> Iterator[Record]:
    """Yield records without end.

    Args:
        payloads: used again and again in their order.
        drawn_keys: likewise; None for records without keys.
        number_field: name of a first field with the record's number, from 0, put into each payload; None for none.

    Raises:
        ConfigError: a payload that is to be numbered is not a JSON object.
    """
    of_keys: Iterator[bytes | None] = repeat(None) if drawn_keys is None else cycle(drawn_keys)
    values = cycle(payloads) if number_field is None else _numbered(payloads, number_field)
    return zip(values, of_keys, strict=False)


def _numbered(payloads: Sequence[bytes], field: str) -> Iterator[bytes]:
    # By bytes: to decode and encode a document costs twenty times as much as all the rest.
    bodies = []
    for payload in payloads:
        inside = payload.strip()
        if not (inside.startswith(b"{") and inside.endswith(b"}")):
            raise ConfigError(f"--number-field needs JSON objects; {payload[:60]!r} is none.")
        rest = inside[1:].lstrip()
        bodies.append(rest if rest == b"}" else b"," + rest)
    begin = b'{"%s":%%d%%b' % field.encode()
    return (begin % (number, body) for number, body in zip(count(), cycle(bodies), strict=False))
