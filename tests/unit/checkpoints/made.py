"""Checkpoints as Spark 4.1 writes them, made of plain values; and what Spark would do when it starts on one."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from gluepot.connectors.kafka.positions import Positions, Span
from gluepot.streaming.checkpoints.names import checksum_of

QUERY = "7b546c72-661a-4c2f-a048-bc0862edb201"
PIECE = 512
COMMIT = b'v1\n{"nextBatchWatermarkMs":0}'


def positions(batches: int, first: int = 0) -> list[Positions]:
    """Partition 0 moves by three offsets a batch, partition 1 by two."""
    made: list[Positions] = []
    for n in range(batches):
        spans = {("t", p): Span(first + step * n, first + step * (n + 1)) for p, step in ((0, 3), (1, 2))}
        made.append(Positions({"t": "id-1"}, spans, made[-1].check if made else ""))
    return made


def offset_file(*streams: Positions | str, at: int = 0) -> bytes:
    about = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 1_795_244_644_450 + at, "conf": {"a.b": "2"}})
    lines = [one if isinstance(one, str) else json.dumps(one.to_json()) for one in streams]
    return "\n".join(["v1", about, *lines]).encode()


def hadoop_crc(data: bytes, piece: int = PIECE) -> bytes:
    sums = [zlib.crc32(data[n : n + piece]).to_bytes(4, "big") for n in range(0, len(data), piece)]
    return b"".join([b"crc\0", piece.to_bytes(4, "big"), *sums])


def checkpoint(batches: int, *, done: int | None = None, crc: bool = True) -> dict[str, bytes]:
    """A folder with so many planned batches, all of them done unless said otherwise."""
    files = {"metadata": json.dumps({"id": QUERY}).encode()}
    files |= {f"offsets/{n}": offset_file(one, at=n) for n, one in enumerate(positions(batches))}
    files |= {f"commits/{n}": COMMIT for n in range(batches if done is None else done)}
    if crc:
        files |= {checksum_of(key): hadoop_crc(data) for key, data in files.items()}
    return files


@dataclass(frozen=True)
class GoesOn:
    """The next batch is planned from the end of `after`."""

    after: int
    query: str


@dataclass(frozen=True)
class RunsAgain:
    """Batch `batch` runs with the records its entry names."""

    batch: int
    held: Positions
    query: str


@dataclass(frozen=True)
class Fresh:
    """There is no history."""


@dataclass(frozen=True)
class Fails:
    """A Java exception."""


def spark_start(files: Mapping[str, bytes]) -> GoesOn | RunsAgain | Fresh | Fails:
    """What `MicroBatchExecution` does with a checkpoint, read independently of the product."""
    try:
        query = json.loads(_hadoop_read(files, "metadata"))["id"] if "metadata" in files else "a new id"
        planned, done = _newest(files, "offsets"), _newest(files, "commits")
        if planned is None:
            return Fresh() if done is None else Fails()
        newest = _entry(files, planned)
        if planned:
            _entry(files, planned - 1)
        if done is not None:
            version, about = _hadoop_read(files, f"commits/{done}").decode().split("\n")
            if version != "v1" or not isinstance(json.loads(about), dict) or done > planned:
                return Fails()
        return GoesOn(planned, query) if done == planned else RunsAgain(planned, newest, query)
    except (ValueError, KeyError, OSError):
        return Fails()


def _newest(files: Mapping[str, bytes], log: str) -> int | None:
    return max(
        (int(key.split("/")[1]) for key in files if key.startswith(f"{log}/") and key.split("/")[1].isdecimal()),
        default=None,
    )


def _entry(files: Mapping[str, bytes], n: int) -> Positions:
    version, _, line = _hadoop_read(files, f"offsets/{n}").decode().split("\n")
    if version != "v1":
        raise ValueError(version)
    topics = json.loads(line)["topics"]
    spans = {(t, int(p)): Span(*span) for t, entry in topics.items() for p, span in entry["spans"].items()}
    return Positions({t: entry["id"] for t, entry in topics.items()}, spans)


def _hadoop_read(files: Mapping[str, bytes], key: str) -> bytes:
    crc = files.get(checksum_of(key))
    if crc is not None and crc[:4] == b"crc\0" and len(crc) >= 8:  # else Hadoop takes no account of it
        piece = int.from_bytes(crc[4:8], "big", signed=True)
        if piece <= 0 or crc != hadoop_crc(files[key], piece):
            raise OSError(f"checksum error: {key}")
    return files[key]
