"""Judges a history: what was wrong at any moment, and figures. Pure, and shares nothing with the product.

The readers note parts that become visible as a whole, so at every read each part must be whole, no record may be in two
parts, and no record that was seen may be gone. At the end each reader must have seen every acknowledged record once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.cluster.history import Event

READERS = ("files", "rows")
PROGRESS_SECS = 240.0
"""After the last fault a record that is sent then must be seen within so long."""

REMEDY = re.compile(
    r"\b(stop|give|remove|run|use|set|start|free|make|wait|look|choose|mend|ends?|try|check)\b", re.IGNORECASE
)
GENERAL = "Run again with -v for the stack trace."
"""No remedy; it follows every error that was not foreseen."""

LOSS = "Records were lost"
"""No driver may say so, nor go on after one: the brokers lose nothing that they have acknowledged."""

SAID_ALL = {0, -9}
"""Exit codes of drivers that came to the end of the stream, or were killed."""


@dataclass
class _Reader:
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    copies: Counter[int] = field(default_factory=Counter)
    looks: int = 0
    batches: set[int] = field(default_factory=set)
    progress_at: float | None = None

    def take(self, event: Event) -> list[str]:
        """Take in what was seen; return what is wrong with it."""
        faults: list[str] = []
        before = set()
        for name in (*event["removed"], *event["added"]):
            if old := self.parts.pop(name, None):
                before.update(old["ids"])
                self.copies.subtract(old["ids"])
        for name, part in event["added"].items():
            self.parts[name] = part
            self.copies.update(part["ids"])
            self.batches.add(part["batch"])
            if part["batch"] is None:
                faults.append(f"{len(part['ids'])} rows of {name} belong to no write on record")
            elif len(part["ids"]) + part["rejects"] != part["rows"]:
                there = len(part["ids"]) + part["rejects"]
                faults.append(f"batch {part['batch']} is there in part: {there} of {part['rows']} records, in {name}")
        new = {one for part in event["added"].values() for one in part["ids"]}
        if twice := [one for one in new if self.copies[one] > 1]:
            faults.append(f"{len(twice)} records twice, such as {min(twice)}")
        if gone := [one for one in before if self.copies[one] <= 0]:
            faults.append(f"{len(gone)} records were there and are gone, such as {min(gone)}")
        self.looks += event["looks"]
        return faults


@dataclass
class Judgement:
    """What a history shows.

    Args:
        run: its first event.
        faults: everything that was not as it must be, in words.
        sent: acknowledged records, malformed ones included.
        lost: by the reader that misses most, or the comparison of what the tables hold; like the next two.
        nemesis: faults by what they are.
        starts: of drivers.
        refused: starts of drivers that ended by themselves before they had done a batch.
        ended: drivers that ended later, or after one of their processes was killed.
        takeovers: how often another driver than before had the lease when a fault began. A lower bound.
        messages: what drivers said that ended by themselves, without what differs from one to the next.
        looks: of all readers.
        progress_secs: from the end of the last fault to the sight of a record sent after it, of the slower reader.
    """

    run: Event = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    sent: int = 0
    lost: int = 0
    doubled: int = 0
    invented: int = 0
    batches: int = 0
    nemesis: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    refused: int = 0
    ended: int = 0
    takeovers: int = 0
    messages: Counter[str] = field(default_factory=Counter)
    looks: int = 0
    progress_secs: float | None = None
    secs: float = 0.0

    @property
    def right(self) -> bool:
        return not self.faults


def judge(events: Iterable[Event]) -> Judgement:
    """Go through a history once."""
    found = Judgement()
    readers = {name: _Reader() for name in READERS}
    acknowledged: Counter[int] = Counter()
    late: set[int] = set()
    healed: float | None = None
    settled = False
    struck: set[str] = set()
    for event in events:
        found.secs = event["at"]
        match event["kind"]:
            case "run":
                found.run = event
            case "sent" | "found":
                acknowledged.update(event["ids"])
                found.sent += len(event["ids"]) + event.get("malformed", 0)
                if healed is not None:
                    late.update(event["ids"])
            case "read":
                reader = readers[event["reader"]]
                _read(event, reader, found)
                if healed is not None and reader.progress_at is None and any(reader.copies[one] > 0 for one in late):
                    reader.progress_at = event["at"] - healed
            case "started":
                found.starts += event["host"].startswith("driver")
                struck.discard(event["host"])
            case "ended":
                _ended(event, found, struck=event["host"] in struck)
            case "nemesis" if event["begins"]:
                found.nemesis[event["what"]] += 1
                if event["what"] == "kill" and event["hit"]:
                    struck.add(event["target"])
            case "owner":
                found.takeovers += 1
            case "healed":
                healed = event["at"]
            case "settled":
                settled = True
            case "verdict":
                _compared(event, event["by"], found)
            case "stuck":
                found.faults.append(f"{event['at']:.0f} s: {event['what']}")
    if not settled:
        found.faults.append("no driver came to the end of the stream")
    found.takeovers = max(0, found.takeovers - 1)
    _conclude(found, readers, acknowledged, healed)
    return found


def _conclude(found: Judgement, readers: dict[str, _Reader], acknowledged: Counter[int], healed: float | None) -> None:
    """Compare what each reader has seen at the end with what was acknowledged, and take the figures of all together."""
    for name, reader in readers.items():
        _compared(_against(acknowledged, reader.copies), f"the reader of {name}", found)
        found.looks += reader.looks
        found.batches = max(found.batches, len(reader.batches))
        if healed is not None and (reader.progress_at is None or reader.progress_at > PROGRESS_SECS):
            found.faults.append(f"no progress in {name} within {PROGRESS_SECS:.0f} s of the last fault")
    reached = [reader.progress_at for reader in readers.values() if reader.progress_at is not None]
    found.progress_secs = max(reached) if reached else None


def _read(event: Event, reader: _Reader, found: Judgement) -> None:
    where = f"{event['at']:.0f} s, {event['reader']}"
    if "missing" in event:
        found.faults.append(f"{where}: manifest {event['manifest']} names a file that is not there: {event['missing']}")
    elif "trouble" not in event:
        found.faults += [f"{where}: {fault}" for fault in reader.take(event)]


def _ended(event: Event, found: Judgement, *, struck: bool) -> None:
    """Take in the end of a driver; a start that was refused, and of which no process was killed, must say what to do."""
    if not event["host"].startswith("driver"):
        return
    message = event.get("message", "").replace(GENERAL, "").strip()
    if LOSS in message or event.get("losses"):
        found.faults.append(f"{event['at']:.0f} s: a driver took records for lost that were not: {message}")
    found.faults += [f"{event['at']:.0f} s: a batch does not balance: {line}" for line in event.get("unbalanced", [])]
    if event["code"] in SAID_ALL:
        return
    if event["batches"] > 0 or struck:
        found.ended += 1
    else:
        found.refused += 1
        if not REMEDY.search(message):
            found.faults.append(
                f"{event['at']:.0f} s: a start ended with {event['code']} and named no remedy: {message}"
            )
    found.messages[re.sub(r"\d+", "N", message)] += 1


def _against(acknowledged: Counter[int], copies: Counter[int]) -> dict[str, int]:
    return {
        "lost": sum(copies[one] < many for one, many in acknowledged.items()),
        "doubled": sum(copies[one] > many for one, many in acknowledged.items()),
        "invented": sum(many > 0 and one not in acknowledged for one, many in copies.items()),
    }


def _compared(counts: dict[str, Any], by: str, found: Judgement) -> None:
    found.lost = max(found.lost, counts["lost"])
    found.doubled = max(found.doubled, counts["doubled"])
    found.invented = max(found.invented, counts["invented"])
    if wrong := [f"{counts[name]} {name}" for name in ("lost", "doubled", "invented") if counts[name]]:
        found.faults.append(f"by {by}: {', '.join(wrong)}")
