"""The journal: the writes that attempts of a streaming query's newest batch may have published.

When a batch function runs again, it may write somewhere else: the hour in a path has changed, or it takes another
branch. What the earlier attempt published must then be taken back, and after a crash only the journal says where that
is. So every write is announced here before it does anything that lasts.

    <checkpoint>/gluepot/writes/<n>.json    the n-th state: the driver's token, and all writes that may be in use

The states form a chain. Each driver creates its first state when it starts, and each state is created exclusively. So
if a driver wakes up after another one took over, it finds the next number taken, and announces and publishes nothing
new. Usually all batches make the same writes, and then the journal does not change after the start.

A state also names the batch that runs again, until its function has returned. An entry of the commit log that an
earlier attempt was about to write may still appear then, and would end the batch half replaced; see
`gluepot.streaming.checkpoints.late_commit`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from threading import Lock

from gluepot.core.errors import CheckpointError, LeaseHeld
from gluepot.core.storage import Storage
from gluepot.core.stored_json import UNFIT, parsed_json

FOLDER = "gluepot/writes"
_VERSION = 1
# The next state leaves out a write that no batch has made for this number of batches.
_KEPT_BATCHES = 10


@dataclass(frozen=True, order=True, slots=True)
class Write:
    """One write that a batch function makes, in any batch.

    Args:
        kind: how it is taken back: `files`, `postgresql`, or the name of a lake format.
        place: the target: the URL of a folder, or of a database with the table; without credentials.
        ctx: which write to the target this is, as in the commit key.
        rejects: the folder for rejected records, if it is not the target itself; otherwise empty.
        mode: what a write to a database does with existing rows, or by which name the script wrote to a lake table;
            empty for other kinds, and in a journal of an older Gluepot. It is not compared: two writes that differ only
            in their mode are equal.
    """

    kind: str
    place: str
    ctx: str
    rejects: str = ""
    mode: str = field(default="", compare=False)

    @property
    def folders(self) -> tuple[str, str]:
        """The folders for data and for rejected records, which other writes to the same target share."""
        return self.place, self.rejects


def place_digest(place: str) -> str:
    """Return a short name for the target of a write, for commit keys."""
    return hashlib.sha256(place.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class State:
    """One file of the chain.

    Args:
        number: number of the state, counted from 1.
        token: token of the driver that created it.
        writes: the writes that attempts of the newest batch may have published.
        checkpoint: location of the checkpoint in which it was created. A copied checkpoint has the same query id, so
            the writes that its journal names belong to the original query and must never be taken back.
        repeats: the batch that runs again and has not ended: the id of its query, and its number. None if there is
            none, and in a journal of an older Gluepot.
    """

    number: int
    token: int
    writes: frozenset[Write] = frozenset()
    checkpoint: str = ""
    repeats: tuple[str, int] | None = None

    def to_bytes(self) -> bytes:
        """Return the JSON text."""
        writes = [asdict(one) for one in sorted(self.writes)]
        plain = {"version": _VERSION, "token": self.token, "checkpoint": self.checkpoint, "writes": writes}
        if self.repeats is not None:
            plain["repeats"] = {"query": self.repeats[0], "batch": self.repeats[1]}
        return json.dumps(plain, indent=1).encode()

    @classmethod
    def from_bytes(cls, number: int, text: bytes) -> State:
        """Read the JSON text back.

        Raises:
            CheckpointError: the text is not a state, or a newer version of Gluepot wrote it.
        """
        try:
            plain = parsed_json(text)
            if plain["version"] != _VERSION:
                raise CheckpointError(f"it has version {plain['version']}; use a newer Gluepot")
            writes = frozenset(Write(**one) for one in plain["writes"])
            again = plain.get("repeats")
            repeats = None if again is None else (str(again["query"]), int(again["batch"]))
            return cls(number, int(plain["token"]), writes, str(plain["checkpoint"]), repeats)
        except UNFIT as damaged:
            raise CheckpointError(f"({len(text)} bytes) is not as it was written") from damaged


_NOTHING = State(0, 0)


class Journal:
    """The journal of one query in one driver. Safe to use from several threads.

    Args:
        storage: the checkpoint's storage.
        token: token of the driver's lease.

    Raises:
        LeaseHeld: a later driver has opened the journal.
        CheckpointError: the journal's newest file cannot be read.
    """

    def __init__(self, storage: Storage, token: int) -> None:
        self._storage = storage
        self._token = token
        self._changing = Lock()
        newest = _newest(storage) or _NOTHING
        if newest.token > token:
            raise self._taken_over()
        own = _own(newest, storage)
        self._found = own.writes
        self._first_batch: int | None = None
        self._state = self._next(newest, own.writes, own.repeats)

    @property
    def found(self) -> frozenset[Write]:
        """The writes that earlier drivers may have published under the newest batch."""
        return self._found

    def announce(self, write: Write, batch_id: int, used: Mapping[Write, int]) -> None:
        """Make sure that the journal names a write before that write does anything.

        Args:
            write: the write that is about to begin.
            batch_id: id of the batch.
            used: the last batch of each write that this driver has made lately.

        Raises:
            LeaseHeld: a later driver has opened the journal.
        """
        with self._changing:
            if self._first_batch is None:
                self._first_batch = batch_id
            if write in self._state.writes:
                return
            # What earlier drivers have announced counts as a write of the first batch of this one.
            first, oldest = self._first_batch, batch_id - _KEPT_BATCHES
            kept = (one for one in self._state.writes if used.get(one, first) >= oldest)
            self._state = self._next(self._state, (*kept, write), self._state.repeats)

    @property
    def repeats(self) -> tuple[str, int] | None:
        """The batch that runs again and has not ended, as its query's id and its number."""
        return self._state.repeats

    def repeat(self, query_id: str, batch_id: int) -> None:
        """Note that a batch runs again, before it changes anything that an earlier attempt of it has written.

        Raises:
            LeaseHeld: a later driver has opened the journal.
        """
        self._note((query_id, batch_id))

    def ended(self) -> None:
        """Note that a batch has ended: everything is as its last attempt wrote it.

        Raises:
            LeaseHeld: a later driver has opened the journal.
        """
        self._note(None)

    def _note(self, repeats: tuple[str, int] | None) -> None:
        with self._changing:
            if self._state.repeats != repeats:
                self._state = self._next(self._state, self._state.writes, repeats)

    def _next(self, before: State, writes: Iterable[Write], repeats: tuple[str, int] | None) -> State:
        """Create the state after another one, and read back which state is newest; the storage's reply does not count.

        A lost reply makes our own state look like that of another driver, and a request that we gave up may still be
        carried out later. What such a state names is added to the next one, and so is what a state names that an
        earlier driver creates at this very moment.
        """
        wanted = frozenset(writes)
        while True:
            state = State(before.number + 1, self._token, wanted, self._storage.url, repeats)
            self._storage.create(_path(state.number), state.to_bytes())
            newest = _newest(self._storage)
            if newest == state:
                break
            if newest is None or newest.token > self._token:
                raise self._taken_over()
            self._found |= newest.writes
            before, wanted, repeats = newest, wanted | newest.writes, repeats or newest.repeats
        self._storage.delete(_path(number) for number in _numbers(self._storage) if number < state.number)
        return state

    def _taken_over(self) -> LeaseHeld:
        return LeaseHeld(
            f"another driver has taken over {self._storage.url} and keeps its journal of writes; this driver publishes"
            " no more"
        )


def newest_state(storage: Storage) -> State:
    """Return what the journal says at this moment; an empty state if there is none, or if it is of another checkpoint.

    Args:
        storage: the checkpoint's storage.

    Raises:
        CheckpointError: the journal's newest file cannot be read.
    """
    return _own(_newest(storage), storage)


def _own(newest: State | None, storage: Storage) -> State:
    return _NOTHING if newest is None or newest.checkpoint != storage.url else newest


def _newest(storage: Storage) -> State | None:
    numbers = _numbers(storage)
    while numbers:
        number = numbers.pop()
        try:
            return State.from_bytes(number, storage.get(_path(number)))
        except FileNotFoundError:
            pass  # a listing may be older than the files
        except CheckpointError as damaged:
            raise CheckpointError(
                f"{storage.url}/{_path(number)} {damaged}; restore it, or remove it if the newest batch was committed"
            ) from damaged
    return None


def _numbers(storage: Storage) -> list[int]:
    names = (key.removeprefix(f"{FOLDER}/").removesuffix(".json") for key in storage.list(FOLDER))
    return sorted(int(name) for name in names if name.isdecimal())


def _path(number: int) -> str:
    return f"{FOLDER}/{number}.json"
