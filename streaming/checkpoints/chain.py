"""How the entries of an offset log hang together. Pure.

Every entry of ours holds the checksum of the one before (`connectors/positions.py`). So an entry in the place
of another is told from a jump that the user accepted with failOnDataLoss=false, and an entry that is gone can be
written anew where both of its neighbours are there: the one behind proves whether the result is what was lost.
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
    """An offset log, judged.

    Args:
        entries: what was read, by batch.
        sound: batches whose entries are whole and in their place.
        proven: entries that are broken or gone and follow from their neighbours.
    """

    entries: Mapping[int, OffsetFile | Damage]
    sound: frozenset[int]
    proven: Mapping[int, OffsetFile]

    @property
    def top(self) -> int:
        """The newest batch whose entry is right or can be made right; -1 without any."""
        return max(self.sound | self.proven.keys(), default=-1)

    def whole(self, n: int) -> OffsetFile | None:
        """Return the entry of a sound batch."""
        entry = self.entries.get(n)
        return entry if n in self.sound and isinstance(entry, OffsetFile) else None

    def broken_before(self, n: int) -> bool:
        """Tell whether a sound entry does not follow the sound one before it: then one of the two is of elsewhere."""
        before, entry = self.whole(n - 1), self.whole(n)
        return before is not None and entry is not None and not follows(entry, before)

    def fault(self, n: int) -> str:
        """Return what is wrong with an entry that is not sound: a clause after the file's name."""
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
    """Tell the entries that are right from the others.

    Args:
        entries: of the offset log, as far as they were read.
        starts: checksums that the first entry may follow; it follows nothing when no start was chosen.
    """
    whole = {n: one for n, one in entries.items() if isinstance(one, OffsetFile)}
    proven: dict[int, OffsetFile] = {}
    for n in range(min(entries, default=0) + 1, max(entries, default=0)):
        before, entry, behind = whole.get(n - 1), whole.get(n), whole.get(n + 1)
        if before is None or behind is None:
            continue
        linked = entry is not None and (follows(entry, before) or follows(behind, entry))
        if not linked and (between := rebuilt(before, behind)):
            proven[n] = between
    placed = whole | proven
    sound = {n for n in placed.keys() - proven.keys() if _in_place(n, placed, {"", *starts})}
    return Chain(entries, frozenset(sound), proven)


def follows(entry: OffsetFile, before: OffsetFile) -> bool:
    """Tell whether an entry is the one after another; a stream that had nothing new is in both letter for letter."""
    if entry.data == before.data or len(entry.streams) != len(before.streams):
        return False
    return all(_goes_on(now, then) for now, then in zip(entry.streams, before.streams, strict=True))


def rebuilt(before: OffsetFile, behind: OffsetFile) -> OffsetFile | None:
    """Return the entry between two others if it can be proven, else None.

    It begins where the one before ends, it ends where the one behind begins, and the checksum that the one behind holds
    tells whether that is all there was to it.
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
        return len(placed) == 1  # nothing speaks for it or against it
    return (before is not None and follows(entry, before)) or (behind is not None and follows(behind, entry))
