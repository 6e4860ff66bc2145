"""Checks that the entries of an offset log follow each other. Pure.

Each of our entries holds the checksum of the previous entry (`connectors/positions.py`). So we can distinguish an entry
in the wrong place from a jump that the user accepted with failOnDataLoss=false. We can also rebuild a lost entry from
its two neighbours: the checksum in the next entry proves whether the result equals the lost one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gluepot.connectors.positions import Span, StreamPositions
from gluepot.streaming.checkpoints.contents import Damage, OffsetFile


@dataclass(frozen=True, slots=True)
class Chain:
    """An offset log and the result of checking it.

    Args:
        entries: the entries that were read, by batch.
        sound: batches whose entries are whole and in the right place.
        proven: rebuilt entries, by batch, for those that are broken or missing but follow from their neighbours.
    """

    entries: Mapping[int, OffsetFile | Damage]
    sound: frozenset[int]
    proven: Mapping[int, OffsetFile]

    @property
    def top(self) -> int:
        """The newest batch whose entry is sound or can be rebuilt; -1 if there is none."""
        return max(self.sound | self.proven.keys(), default=-1)

    def whole(self, n: int) -> OffsetFile | None:
        """Return the entry of a batch; None if it is not sound."""
        entry = self.entries.get(n)
        return entry if n in self.sound and isinstance(entry, OffsetFile) else None

    def broken_before(self, n: int) -> bool:
        """Tell whether two consecutive sound entries do not fit; then one of them comes from another log."""
        before, entry = self.whole(n - 1), self.whole(n)
        return before is not None and entry is not None and not follows(entry, before)

    def fault(self, n: int) -> str:
        """Return what is wrong with an entry that is not sound, as a clause that follows the file's name."""
        entry = self.entries.get(n)
        match entry:
            case None:
                return "is missing"
            case Damage(what):
                return what
        same = [
            m for m, one in self.entries.items() if m != n and isinstance(one, OffsetFile) and one.data == entry.data
        ]
        return f"is a copy of offsets/{same[0]}" if same else f"is not the entry after offsets/{n - 1}"


def judge(entries: Mapping[int, OffsetFile | Damage], starts: Collection[str] = ()) -> Chain:
    """Check the entries of an offset log: find the sound ones, and rebuild others where possible.

    Args:
        entries: the entries of the offset log that were read, by batch.
        starts: checksums that the first entry may follow; without a chosen start it follows none.
    """
    whole = {n: one for n, one in entries.items() if isinstance(one, OffsetFile)}
    proven: dict[int, OffsetFile] = {}
    for m, before in whole.items():
        n = m + 1
        entry, behind = whole.get(n), whole.get(n + 1)
        if behind is None or (entry is not None and (follows(entry, before) or follows(behind, entry))):
            continue
        if between := rebuilt(before, behind):
            proven[n] = between
    placed = whole | proven
    sound = {n for n in placed.keys() - proven.keys() if _in_place(n, placed, {"", *starts})}
    return Chain(entries, frozenset(sound), proven)


def follows(entry: OffsetFile, before: OffsetFile) -> bool:
    """Tell whether an entry follows another; a stream with nothing new has exactly the same line in both."""
    if entry.data == before.data or len(entry.streams) != len(before.streams):
        return False
    return all(_goes_on(now, then) for now, then in zip(entry.streams, before.streams, strict=True))


def rebuilt(before: OffsetFile, behind: OffsetFile) -> OffsetFile | None:
    """Return the entry between two others if it can be proven, else None.

    The entry begins where `before` ends and ends where `behind` begins. The checksum in `behind` proves whether the
    lost entry held nothing else.
    """
    if len(before.streams) != len(behind.streams):
        return None
    streams: list[StreamPositions[Any]] = []
    for first, last in zip(before.streams, behind.streams, strict=True):
        if not isinstance(first, StreamPositions) or not isinstance(last, StreamPositions):
            return None
        ends = first.ends()
        spans = {p: Span(ends.get(p, span.start), span.start) for p, span in last.spans.items()}
        between = replace(last, spans=spans, after=first.check, notes={})
        if between.check != last.after:
            return None
        streams.append(between)
    version, about, *_ = behind.data.decode().splitlines()
    lines = [version, about, *(json.dumps(one.to_json()) for one in streams)]
    return OffsetFile("\n".join(lines).encode(), streams)


def _goes_on(now: object, then: object) -> bool:
    if isinstance(now, StreamPositions) and isinstance(then, StreamPositions):
        return now == then or now.after == then.check
    return isinstance(now, StreamPositions) == isinstance(then, StreamPositions)


def _in_place(n: int, placed: Mapping[int, OffsetFile], starts: Collection[str]) -> bool:
    entry, before, behind = placed[n], placed.get(n - 1), placed.get(n + 1)
    if n == 0:
        return all(one.after in starts for one in entry.positions)
    if before is None and behind is None:
        return len(placed) == 1  # without neighbours nothing proves or refutes its place
    return (before is not None and follows(entry, before)) or (behind is not None and follows(behind, entry))
