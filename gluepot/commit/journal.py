"""Which writes the attempts of a streaming query's newest batch may have published.

A batch function may write somewhere else when it runs again: the hour in a path has changed, or it takes another
branch. What the earlier attempt published there must go, and after a crash only what was written down beforehand says
where to look. So every write is announced here before it does anything that lasts.

    <checkpoint>/gluepot/writes/<n>.json    the n-th state: the driver's token, and all writes that may be in use

The states are a chain. Each driver creates its first one when it starts, and each state is created exclusively, so a
driver that was taken over and wakes up finds the next number taken and announces, and therefore publishes, nothing new.
In the ordinary case the same writes come with every batch and nothing is written after the start.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from threading import Lock

from gluepot.core.errors import CheckpointError, LeaseHeld
from gluepot.core.storage import Storage

FOLDER = "gluepot/writes"
_VERSION = 1
_KEPT_BATCHES = 10
"""A write that no batch made for so long is left out of the next state."""


@dataclass(frozen=True, order=True, slots=True)
class Write:
    """One write that a batch function makes, in any batch.

    Args:
        kind: how it is taken back: `files`, `postgresql`, or the name of a lake format.
        place: the target: a folder's URL, or a database's with the table; without credentials.
        ctx: which write to the target, as in the commit key.
        rejects: the folder for rejected records where that is not the target's own; empty otherwise.
        mode: what a write to a database does with the rows that are there; empty for other kinds, and in a journal of
            an older Gluepot. It is part of no key, so two writes that differ in it alone are the same one.
    """

    kind: str
    place: str
    ctx: str
    rejects: str = ""
    mode: str = field(default="", compare=False)

    @property
    def folders(self) -> tuple[str, str]:
        """The two places it goes to, which it shares with other writes to the same target."""
        return self.place, self.rejects


def place_digest(place: str) -> str:
    """Return a short name for the target of a write, for commit keys."""
    return hashlib.sha256(place.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class State:
    """One file of the chain.

    Args:
        number: counted from 1.
        token: of the driver that created it.
        writes: that attempts of the newest batch may have published.
        checkpoint: where it was created. A copy of a checkpoint has the same query id, so what the copy's journal names
            belongs to the original query, and must never be taken back.
    """

    number: int
    token: int
    writes: frozenset[Write] = frozenset()
    checkpoint: str = ""

    def to_bytes(self) -> bytes:
        """Return the JSON text."""
        writes = [asdict(one) for one in sorted(self.writes)]
        plain = {"version": _VERSION, "token": self.token, "checkpoint": self.checkpoint, "writes": writes}
        return json.dumps(plain, indent=1).encode()

    @classmethod
    def from_bytes(cls, number: int, text: bytes) -> State:
        """Read the JSON text back.

        Raises:
            CheckpointError: it is not such a text, or a newer version of Gluepot wrote it.
        """
        try:
            plain = json.loads(text)
            if plain["version"] != _VERSION:
                raise CheckpointError(f"it has version {plain['version']}; use a newer Gluepot")
            writes = frozenset(Write(**one) for one in plain["writes"])
            return cls(number, int(plain["token"]), writes, str(plain["checkpoint"]))
        except (ValueError, KeyError, TypeError) as damaged:
            raise CheckpointError(f"({len(text)} bytes) is not as it was written") from damaged


class Journal:
    """The journal of one query in one driver. Safe to use from several threads.

    Args:
        storage: of the checkpoint.
        token: of the driver's lease.

    Raises:
        LeaseHeld: a later driver has opened it.
        CheckpointError: its newest file cannot be read.
    """

    def __init__(self, storage: Storage, token: int) -> None:
        self._storage = storage
        self._token = token
        self._changing = Lock()
        newest = self._newest() or State(0, 0)
        if newest.token > token:
            raise self._taken_over()
        self._found = newest.writes if newest.checkpoint == storage.url else frozenset()
        self._state = self._next(newest, self._found)

    @property
    def found(self) -> frozenset[Write]:
        """What earlier drivers may have published under the newest batch."""
        return self._found

    def announce(self, write: Write, batch_id: int, used: Mapping[Write, int]) -> None:
        """Make sure that a write is on record before it does anything.

        Args:
            write: that is about to begin.
            batch_id: of the batch.
            used: the last batch of each write that is known.

        Raises:
            LeaseHeld: a later driver has opened the journal.
        """
        with self._changing:
            if write in self._state.writes:
                return
            kept = (one for one in self._state.writes if used.get(one, batch_id) >= batch_id - _KEPT_BATCHES)
            self._state = self._next(self._state, (*kept, write))

    def _next(self, before: State, writes: Iterable[Write]) -> State:
        """Create the state after another one; what is newest afterwards decides, not the answer to the creation.

        A lost reply makes our own creation look like somebody else's, and one of ours may have been created after we
        gave it up. Such a state, and one that an earlier driver creates in this very moment, is taken in.
        """
        wanted = frozenset(writes)
        while True:
            state = State(before.number + 1, self._token, wanted, self._storage.url)
            self._storage.create(_path(state.number), state.to_bytes())
            newest = self._newest()
            if newest == state:
                break
            if newest is None or newest.token > self._token:
                raise self._taken_over()
            self._found |= newest.writes
            before, wanted = newest, wanted | newest.writes
        self._storage.delete(_path(number) for number in self._numbers() if number < state.number)
        return state

    def _taken_over(self) -> LeaseHeld:
        return LeaseHeld(
            f"another driver has taken over {self._storage.url} and keeps its journal of writes; this driver publishes"
            " no more"
        )

    def _newest(self) -> State | None:
        numbers = self._numbers()
        while numbers:
            number = numbers.pop()
            try:
                return State.from_bytes(number, self._storage.get(_path(number)))
            except FileNotFoundError:  # a listing may be older than the files
                continue
            except CheckpointError as damaged:
                raise CheckpointError(
                    f"{self._storage.url}/{_path(number)} {damaged}; restore it, or remove it if the newest batch was"
                    " committed"
                ) from damaged
        return None

    def _numbers(self) -> list[int]:
        names = (key.rsplit("/", 1)[-1].removesuffix(".json") for key in self._storage.list(FOLDER))
        return sorted(int(name) for name in names if name.isdecimal())


def _path(number: int) -> str:
    return f"{FOLDER}/{number}.json"
