"""Heap and garbage collection of a Java process, read from the file in which HotSpot keeps its counters.

Reading it asks the process for nothing, so that a Java that is busy collecting answers as well as any other. The format
is that of `PerfMemory` (hotspot/share/runtime/perfMemory.hpp), the same since Java 5.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

TEMPORARY = Path("/tmp")  # noqa: S108  HotSpot's own choice
_MAGIC = b"\xca\xfe\xc0\xc0"
_LONG = ord("J")
_COLLECTOR_TICKS = re.compile(r"sun\.gc\.collector\.\d+\.time")
_SPACE_USED = re.compile(r"sun\.gc\.generation\.\d+\.space\.\d+\.used")
_SPACE_CAPACITY = re.compile(r"sun\.gc\.generation\.\d+\.space\.\d+\.capacity")
_TICKS_PER_SEC = "sun.os.hrt.frequency"


@dataclass(frozen=True, slots=True)
class JavaHeap:
    """A Java process's heap.

    Args:
        used_bytes: bytes in use after the last collection.
        capacity_bytes: current size of the heap.
        gc_secs: total time of all collections.
    """

    used_bytes: int
    capacity_bytes: int
    gc_secs: float


def java_heap(pids: Iterable[int], temporary: Path = TEMPORARY) -> JavaHeap | None:
    """Return the heap of the first process that has a file of counters; None if none has one.

    Args:
        pids: ids of the processes.
        temporary: where HotSpot keeps its files, whatever `java.io.tmpdir` says.
    """
    for pid in pids:
        for file in temporary.glob(f"hsperfdata_*/{pid}"):
            try:
                counters = long_counters(file.read_bytes())
            except (OSError, ValueError, struct.error):  # it has ended, belongs to another user, or is just starting
                continue
            if counters.get(_TICKS_PER_SEC):
                return _heap(counters)
    return None


def long_counters(data: bytes) -> Mapping[str, int]:
    """Return the integers of a counters file by name.

    Raises:
        ValueError: the data is not a counters file.
        struct.error: the data is cut off.
    """
    if data[:4] != _MAGIC:
        raise ValueError("This is not a file of HotSpot's counters.")
    order = "<" if data[4] else ">"
    at, entries = struct.unpack_from(f"{order}ii", data, 24)
    found: dict[str, int] = {}
    for _ in range(entries):
        length, name_at, vector, kind, _flags, _unit, _changes, value_at = struct.unpack_from(
            f"{order}iiibbbbi", data, at
        )
        if kind == _LONG and not vector:
            name = data[at + name_at : data.index(0, at + name_at)].decode("ascii", "replace")
            (found[name],) = struct.unpack_from(f"{order}q", data, at + value_at)
        at += length
    return found


def _heap(counters: Mapping[str, int]) -> JavaHeap:
    def total(pattern: re.Pattern[str]) -> int:
        return sum(value for name, value in counters.items() if pattern.fullmatch(name))

    return JavaHeap(total(_SPACE_USED), total(_SPACE_CAPACITY), total(_COLLECTOR_TICKS) / counters[_TICKS_PER_SEC])
