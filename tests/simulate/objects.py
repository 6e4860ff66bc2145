"""An object store behind a network, in place of obstore's client: requests get lost, come late, or come twice.

The client asks again when no answer comes, as obstore does: the store may then have carried out the first request, or
may carry it out later, even when the process that sent it is dead. Only the creation of an object that must not exist
yet is not sent again once it was on its way, because obstore does not take it for a request that may be repeated.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from obstore.exceptions import AlreadyExistsError, GenericError

from tests.model.changes import Change
from tests.simulate import threads
from tests.simulate.world import World

T = TypeVar("T")

_TRIES = 4
_NO_ANSWER_SECS = 10.0
_A_LITTLE_SECS = 5.0
_LATEST_SECS = 120.0
_PAGE_KEYS = 50


@dataclass(frozen=True, slots=True)
class Network:
    """How often a request goes wrong, each as a share of all requests.

    Args:
        refused: it is answered by 503.
        lost: it never arrives.
        reply_lost: it is carried out and the reply is lost.
        late: it is carried out later than the client waits.
        twice: it is carried out, and later again.
    """

    refused: float = 0.0
    lost: float = 0.0
    reply_lost: float = 0.0
    late: float = 0.0
    twice: float = 0.0

    @property
    def total(self) -> float:
        """The share of requests that go wrong."""
        return self.refused + self.lost + self.reply_lost + self.late + self.twice


@dataclass(frozen=True, slots=True)
class Handle:
    """A bucket with a prefix, as a storage of the product knows it."""

    bucket: str
    prefix: str

    def full(self, key: str) -> str:
        """Return the name of an object in the store."""
        return "/".join(part for part in (self.bucket, self.prefix, key) if part)


class Got:
    """The answer to a get."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def bytes(self) -> bytes:
        """Return the object."""
        return self._data


@dataclass
class ObjectStore:
    """All buckets, with the functions of the module `obstore` that the product calls.

    Args:
        world: where it is.
        network: how often requests go wrong.
        objects: by name.
        names: of the objects, in order.
        revived: names of objects that were there again because an upload was carried out again.
        longest_secs: the longest time that a request takes to arrive, and its answer to come back.
        away_until: when it answers again.
    """

    world: World
    network: Network = field(default_factory=Network)
    objects: dict[str, bytes] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    revived: set[str] = field(default_factory=set)
    longest_secs: float = 0.02
    away_until: float = 0.0
    _goes_away: tuple[str, float] | None = None

    def set(self, name: str, data: bytes | None) -> None:
        """Store an object, or remove it."""
        at = bisect_left(self.names, name)
        is_there = at < len(self.names) and self.names[at] == name
        if data is None:
            if is_there:
                del self.names[at], self.objects[name]
            return
        if not is_there:
            self.names.insert(at, name)
        self.objects[name] = data

    def below(self, prefix: str, behind: str = "", most: int | None = None) -> Sequence[str]:
        """Return the names that begin with a prefix, in order, perhaps only some that sort after a given one."""
        start = bisect_right(self.names, behind) if behind > prefix else bisect_left(self.names, prefix)
        end = bisect_left(self.names, f"{prefix}\U0010ffff")
        return self.names[start : end if most is None else min(end, start + most)]

    def go_away(self, secs: float) -> None:
        """Answer nothing for a while, from the next request of some kind on; each kind is as likely."""
        self._goes_away = self.world.faults.choice(("get", "put", "create", "copy", "delete", "list")), secs

    def come_back(self) -> None:
        """Answer from now on."""
        self.away_until, self._goes_away, self.longest_secs = 0.0, None, 0.02

    def get(self, store: Handle, key: str) -> Got:
        return Got(self._send("get", store.full(key), lambda: self._read(store.full(key))))

    def get_range(self, store: Handle, key: str, *, start: int, length: int) -> bytes:
        return self._send("get_range", store.full(key), lambda: self._read(store.full(key))[start : start + length])

    def head(self, store: Handle, key: str) -> dict[str, Any]:
        return {"size": self._send("head", store.full(key), lambda: len(self._read(store.full(key))))}

    def put(self, store: Handle, key: str, data: Any, *, mode: str = "overwrite", **_of_parts: int) -> None:
        given = data if isinstance(data, bytes) else bytes(data.read())
        name, tell = store.full(key), self._tells()
        done: list[str] = []

        def put() -> None:
            if mode == "create" and name in self.objects:
                tell("exists", name, given)
                raise AlreadyExistsError(name)
            if done and name not in self.objects:
                self.revived.add(name)
            done.append(name)
            self.set(name, given)
            tell("created" if mode == "create" else "put", name, given)

        self._send("create" if mode == "create" else "put", name, put)

    def copy(self, store: Handle, source: str, target: str) -> None:
        old, new, tell = store.full(source), store.full(target), self._tells()

        def copy() -> None:
            if old not in self.objects:
                tell("missed", new, source=old)
            self.set(new, self._read(old))
            tell("copied", new, source=old)

        self._send("copy", new, copy)

    def delete(self, store: Handle, keys: Sequence[str]) -> None:
        names, tell = [store.full(key) for key in keys], self._tells()

        def delete() -> None:
            for name in names:
                self.set(name, None)
                tell("deleted", name)

        self._send("delete", " ".join(names[:3]), delete)

    def list(
        self, store: Handle, prefix: str | None = None, *, offset: str | None = None
    ) -> Iterator[Sequence[dict[str, str]]]:
        start = store.full("")
        cut = len(start) + 1 if start else 0
        below = f"{store.full(prefix)}/" if prefix else f"{start}/"
        behind = offset
        while True:

            def page(behind: str | None = behind) -> list[str]:
                found = self.below(below, "" if behind is None else f"{start}/{behind}", _PAGE_KEYS)
                return [name[cut:] for name in found]

            names = self._send("list", below, page)
            if names:
                yield [{"path": one} for one in names]
            if len(names) < _PAGE_KEYS:
                return
            behind = names[-1]

    def _tells(self) -> Callable[..., None]:
        """Return what tells the changes that a request of this process makes, whenever it is carried out."""
        return partial(_tell, self.world, threads.process().title)

    def _read(self, name: str) -> bytes:
        try:
            return self.objects[name]
        except KeyError:
            raise FileNotFoundError(name) from None

    def _send(self, what: str, name: str, request: Callable[[], T]) -> T:
        world, process = self.world, threads.process()
        changes = what in {"put", "create", "copy", "delete"}
        if self._goes_away is not None and self._goes_away[0] == what:
            self.away_until, self._goes_away = world.now + self._goes_away[1], None
        for _ in range(_TRIES):
            fate = self._fate(changes=changes)
            if fate != "well":
                world.note(process.name, f"{what} {name} goes wrong: {fate}")
            try:
                world.act(process, what, name, longest_secs=self.longest_secs)
            except threads.Killed:
                # A request that is under way when its process dies may be carried out all the same.
                if changes and world.faults.random() < 0.3:
                    self._later(request, 0.5)
                raise
            match fate:
                case "refused":
                    if changes and world.faults.random() < 0.1:
                        _ignoring(request)  # an answer of 500 does not say that nothing happened
                    threads.pause(1.0)
                    continue
                case "lost":
                    pass
                case "late":
                    self._later(request, self._delay_secs())
                case "reply_lost":
                    _ignoring(request)
                case _:
                    answer = request()
                    if fate == "twice":
                        self._later(request, world.faults.uniform(0.0, _LATEST_SECS))
                    threads.pause(world.latency.random() * self.longest_secs)
                    return answer
            threads.pause(_NO_ANSWER_SECS)
            if what == "create" and fate != "lost":
                break
        raise GenericError(f"Error performing {what} http://store/{name}: error sending request")

    def _later(self, request: Callable[[], object], secs: float) -> None:
        self.world.scheduler.at(self.world.now + secs, lambda: _ignoring(request))

    def _delay_secs(self) -> float:
        """Return how late a request is carried out: half of them soon after the client or the store has given up."""
        soon_secs = max(_NO_ANSWER_SECS, self.away_until - self.world.now)
        longest_secs = _A_LITTLE_SECS if self.world.faults.random() < 0.5 else _LATEST_SECS
        return soon_secs + self.world.faults.uniform(0.0, longest_secs)

    def _fate(self, *, changes: bool) -> str:
        draw = self.world.faults.random()
        if self.world.now < self.away_until:
            return "late" if changes and draw < 0.5 else "lost"
        if draw >= self.network.total:
            return "well"
        for fate in ("refused", "lost", "reply_lost", "late", "twice"):
            draw -= getattr(self.network, fate)
            if draw < 0:
                return fate if changes or fate in {"refused", "lost"} else "well"
        return "well"


def _tell(world: World, who: str, what: str, path: str, data: bytes = b"", source: str = "") -> None:
    world.tell(Change(who, what, path, data, source))


def _ignoring(request: Callable[[], object]) -> None:
    with suppress(AlreadyExistsError, FileNotFoundError):
        request()
