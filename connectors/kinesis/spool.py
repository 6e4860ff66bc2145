"""Blocks on the local disk, which the planner fetches and the tasks decode.

    <folder>/<generation>/<shard>/<start>-<first>-<last>-<records>-<sum>.arrow

A file is an Arrow IPC file of one record batch, followed by the CRC-32 of its bytes. Its name states its content, so a
torn file is recognised. A torn file loses nothing, because its records can be fetched again by the same positions. Each
planner writes into its own generation, so a planner that outlives its query for a moment does no harm.
"""

from __future__ import annotations

import os
import re
import shutil
import zlib
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from gluepot.connectors.kinesis.blocks import SCHEMA, Extent
from gluepot.core.failpoints import reach

_CRC_BYTES = 4
_NAME = re.compile(r"(\d+)-(\d+)-(\d+)-(\d+)-([0-9a-f]{16})\.arrow")


class TornFile(Exception):
    """A file of the spool does not hold what its name says."""


def file_name(extent: Extent) -> str:
    """Return the name of a block's file."""
    return f"{extent.start}-{extent.first}-{extent.last}-{extent.records}-{extent.total:016x}.arrow"


def parse_name(name: str) -> Extent | None:
    """Return the extent that the name of a spool file states; None for any other file."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    return Extent(int(found[1]), int(found[2]), int(found[3]), int(found[4]), int(found[5], 16))


def chain(extents: Iterable[Extent], start: int, end: int) -> list[Extent] | None:
    """Return the blocks that together hold a range, in order; None if a part of the range is missing.

    The first and the last block may reach beyond the range.
    """
    held: list[Extent] = []
    at = start
    for extent in sorted(extents):
        if extent.end <= at:
            continue
        if extent.start > at or at >= end:
            break
        held.append(extent)
        at = extent.end
    return held if at >= end else None


class SpoolWriter:
    """Writes one generation of the spool.

    Args:
        folder: folder of the spool; created if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        number = max((int(one.name) for one in folder.iterdir() if one.name.isdecimal()), default=0) + 1
        while True:
            try:
                (folder / str(number)).mkdir()
                break
            except FileExistsError:
                number += 1
        self._root = folder
        self._folder = folder / str(number)

    def write(self, shard: str, extent: Extent, block: pa.RecordBatch) -> int:
        """Write a block; return the size of its file in bytes."""
        content = pa.BufferOutputStream()
        with pa.ipc.new_file(content, SCHEMA) as file:
            file.write_batch(block)
        folder = self._folder / shard
        folder.mkdir(exist_ok=True)
        final = folder / file_name(extent)
        part = final.with_suffix(".part")
        buffer = content.getvalue()
        with part.open("wb") as file:
            file.write(buffer)
            file.write(zlib.crc32(buffer).to_bytes(_CRC_BYTES, "big"))
        reach("spool.part_written")
        part.replace(final)
        return int(buffer.size) + _CRC_BYTES

    def forget(self, blocks: Iterable[tuple[str, Extent]]) -> None:
        """Remove blocks, by shard, that no batch will read any more, and all earlier generations."""
        for shard, extent in blocks:
            (self._folder / shard / file_name(extent)).unlink(missing_ok=True)
        for other in self._root.iterdir():
            if other.name.isdecimal() and int(other.name) < int(self._folder.name):
                shutil.rmtree(other, ignore_errors=True)


def find(folder: Path, shard: str, start: int, end: int) -> list[tuple[Path, Extent]] | None:
    """Return the files that hold a range, in order; None if a part is missing, as on machines without the driver."""
    for generation in sorted(folder.glob("*"), reverse=True):
        try:
            names = os.listdir(generation / shard)  # noqa: PTH208  only names are needed
        except (FileNotFoundError, NotADirectoryError):
            continue
        extents = [extent for extent in map(parse_name, names) if extent]
        if (held := chain(extents, start, end)) is not None:
            return [(generation / shard / file_name(extent), extent) for extent in held]
    return None


def load(path: Path, extent: Extent) -> pa.RecordBatch:
    """Read a block.

    Raises:
        TornFile: the file is gone, cut off, or does not hold what its name says.
    """
    try:
        content = memoryview(path.read_bytes())
    except OSError as gone:
        raise TornFile(f"{path} cannot be read: {gone}") from gone
    whole, crc = content[:-_CRC_BYTES], content[-_CRC_BYTES:]
    if zlib.crc32(whole) != int.from_bytes(crc, "big") or len(content) <= _CRC_BYTES:
        raise TornFile(f"{path} ({len(content)} bytes) is not as it was written")
    with pa.ipc.open_file(pa.py_buffer(whole)) as file:
        block = file.get_batch(0)
    sequences = block.column("sequence")
    ends = (int(sequences[0].as_py()), int(sequences[-1].as_py()), block.num_rows)
    if ends != (extent.first, extent.last, extent.records):
        raise TornFile(f"{path} holds other records than its name says")
    return block
