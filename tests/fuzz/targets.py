"""The parsers that are fuzzed: one line each in `TARGETS`, with the bytes that our writers and others make.

A target takes any bytes. It returns whether they are right or refused, and raises anything at all if a rule is broken
(`rules.py`).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import md5
from pathlib import Path

import pyarrow as pa

from gluepot.commit import Target as Table
from gluepot.commit.record import CommitRecord
from gluepot.connectors.kinesis.aggregation import MAGIC, taken_apart
from gluepot.frames.json_decoder import JsonDecoder
from tests.fuzz.rules import good_neighbours, must, round_trip
from tests.unit.commit.worlds import KEY, MemoryStorage, offsets, staged
from tests.unit.hostile.records import GOOD, WRITTEN_DOWN
from tests.unit.kinesis.packed import aggregate

CORPUS = Path(__file__).with_name("corpus")
# A byte that ends a record in an input with several of them; no JSON text needs it.
BETWEEN = b"\x1e"
DEEP = b"[" * 3_000
MOST_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class Target:
    """One parser.

    Args:
        name: its name.
        check: parses bytes, and raises if a rule is broken.
        seeds: valid and nearly valid inputs to begin with.
    """

    name: str
    check: Callable[[bytes], None]
    seeds: Callable[[], Sequence[bytes]]

    @property
    def inputs(self) -> list[bytes]:
        """The seeds, and the inputs that earlier runs found to be of interest."""
        file = CORPUS / f"{self.name}.txt"
        found = file.read_text().split() if file.exists() else []
        return list(dict.fromkeys([*self.seeds(), *map(base64.b64decode, found)]))


def json_records(data: bytes) -> None:
    good_neighbours(JsonDecoder, b'{"id":1}', data.split(BETWEEN))


def json_seeds() -> list[bytes]:
    several = [GOOD[0] + BETWEEN + GOOD[1], BETWEEN.join([b'{"a":1}', b'{"a":"x"}', b'{"a":', b'{"a":1.5}'] * 5)]
    return [*GOOD, *several, *(one for one in WRITTEN_DOWN if one is not None and len(one) < MOST_BYTES)]


def kpl_records(data: bytes) -> None:
    # The digest is right, so that what follows is read; the bytes alone are tried, too.
    taken_apart(data)
    found = taken_apart(MAGIC + data + md5(data).digest())
    must(found is None or sum(len(one.data) for one in found) <= len(data), "Records are larger than their aggregate.")


def kpl_seeds() -> list[bytes]:
    whole = aggregate([("a", b"1"), ("b", b'{"id": 2}'), ("a", b"")])
    return [whole, whole[len(MAGIC) : -16], b"\x1a\x00", b"\x1a\x02\x08\x00"]


def manifests(data: bytes) -> None:
    round_trip(CommitRecord.from_bytes, CommitRecord.to_bytes, data)


def record() -> CommitRecord:
    storage = MemoryStorage()
    manifest = staged(Table(storage, storage), (offsets(0, 3, "0"), offsets(2**60, 2**60 + 2, "1")), attempt="first")
    schema = bytes(pa.schema([("id", pa.int64()), ("name", pa.string())]).serialize())
    return replace(CommitRecord.of(manifest, 1), schema=schema, columns=(schema,), rejected={"malformed_json": 2})


TARGETS = (
    Target("json", json_records, json_seeds),
    Target("kpl", kpl_records, kpl_seeds),
    Target("manifest", manifests, lambda: [record().to_bytes(), CommitRecord.nothing(KEY).to_bytes(), DEEP]),
)
