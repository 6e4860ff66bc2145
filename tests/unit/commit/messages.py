"""A store behind a network: a request that was given up may be carried out later, twice, or in spite of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Literal

from gluepot.commit import FILES, Journal, QueryWrites, Target, Write, abort
from gluepot.connectors.values import ManifestPart, SourceRange
from gluepot.core.errors import TransientError
from gluepot.core.storage import FileWriter, Storage
from gluepot.engine.writer import Given, KnownTargets, TableWriter, Writing
from tests.unit.commit.explore import Violation, manifest_rows
from tests.unit.commit.worlds import MemoryStorage, Watch, offsets, records, staged, unwatched, visible

Fault = Literal["lost", "reply_lost", "late", "twice"]

WHOLE = (offsets(0, 2, "0"), offsets(0, 1, "1"))
OTHER_CUT = (offsets(0, 1, "0"), offsets(1, 2, "0"), offsets(0, 1, "1"))
_LATEST = 14
_TRIES = 5


@dataclass
class Network:
    """Carries the requests of one driver to all storages, and does one of them wrong.

    Args:
        at: the ordinal of the request that goes wrong, counted from 0.
        fault: what becomes of it.
        delay: how many further requests pass before it is carried out, or carried out again.
    """

    at: int
    fault: Fault
    delay: int
    sent: int = 0
    held: list[tuple[int, Callable[[], object]]] = field(default_factory=list)

    def send(self, request: Callable[[], object]) -> object:
        for due, late in [one for one in self.held if one[0] <= self.sent]:
            self.held.remove((due, late))
            late()
        ordinal, self.sent = self.sent, self.sent + 1
        if ordinal != self.at:
            return request()
        if self.fault in {"late", "twice"}:
            self.held.append((self.sent + self.delay, request))
        answer = request() if self.fault in {"reply_lost", "twice"} else None
        if self.fault != "twice":
            raise TransientError("no answer")
        return answer

    def rest(self) -> None:
        """Carry out what is still under way."""
        for _, late in self.held:
            late()
        self.held.clear()


@dataclass
class RemoteStorage(MemoryStorage):
    """Files behind a network; a move is a copy and a removal, as in S3."""

    network: Network | None = None
    store: Storage | None = None  # carries the requests out

    def __post_init__(self) -> None:
        self.store = self.store or MemoryStorage(self.files, self.url)

    def writer(self, key: str) -> FileWriter:
        return self.store.writer(key)

    def _send(self, request: Callable[[], object]) -> object:
        return request() if self.network is None else self.network.send(request)

    def put(self, key: str, data: bytes) -> None:
        self._send(lambda: self.store.put(key, data))

    def create(self, key: str, data: bytes) -> bool:
        return bool(self._send(lambda: self.store.create(key, data)))

    def move(self, moves: Sequence[tuple[str, str]]) -> None:
        for source, target in moves:
            self.get(source)
            self._send(lambda source=source, target=target: self.store.copy(source, target))
        self.delete(source for source, _ in moves)

    def delete(self, keys: Iterable[str]) -> None:
        for key in list(keys):
            self._send(lambda key=key: self.store.delete([key]))


@dataclass(frozen=True)
class Step:
    """One write of a batch function.

    Args:
        table: where to.
        ctx: `transformation_ctx`.
        rows: that it makes of the batch, one task each.
        work: equal for equal work.
    """

    table: str
    ctx: str
    rows: Sequence[SourceRange]
    work: str = "the same"


@dataclass
class World:
    """Two tables, a checkpoint, and a driver whose function may write otherwise each time it is called."""

    network: Network
    watch: Callable[[Storage], Storage] = lambda storage: storage
    tables: dict[str, RemoteStorage] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.checkpoint = self._remote("memory:")

    def table(self, name: str) -> RemoteStorage:
        if name not in self.tables:
            self.tables[name] = self._remote(name)
        return self.tables[name]

    def _remote(self, url: str) -> RemoteStorage:
        files: dict[str, bytes] = {}
        return RemoteStorage(files, url, self.network, self.watch(MemoryStorage(files, url)))

    def run(self, attempts: Sequence[Sequence[Step]], token: int = 1) -> Sequence[Step]:
        """Run one batch as the engine does; return the writes of the attempt that came to its end."""
        writes = None
        for n in range(_TRIES):
            steps = attempts[min(n, len(attempts) - 1)]
            try:
                writes = writes or QueryWrites("query-1", token, Journal(self.checkpoint, token), storages=self.table)
                writer = TableWriter(Writing("query-1", 7, token), KnownTargets(writes), given=Given(WHOLE))
                writes.begin_attempt(7)
                for step in steps:
                    self._write(writer, step, f"try-{n}")
                if n < len(attempts) - 1:
                    raise TransientError("the function fails")  # noqa: TRY301
                writes.settle()
            except TransientError:
                continue
            return steps
        raise Violation("the batch never ends well")

    def _write(self, writer: TableWriter, step: Step, attempt: str) -> None:
        target = Target(self.table(step.table), self.table(step.table))
        planned = replace(writer.next_write(step.table, step.ctx), work=step.work)
        key, token = planned.key, planned.token
        table = writer.targets.tables.open(target, planned, Write(FILES, step.table, key.ctx), lambda _: None)
        if table.adopted(planned):
            return
        try:
            made = staged(target, step.rows, attempt=attempt, key=key, token=token)
            table.publish(replace(planned, parts=[_named(part, key.ctx) for part in made.parts]))
        except TransientError:
            abort(target, key, f"{token}/{attempt}")
            raise

    def check(self, last: Sequence[Step], where: str) -> None:
        """Each table holds what the last attempt wrote to it, by its folder and by its manifests."""
        for name, table in self.tables.items():
            wanted = sorted(row for step in last if step.table == name for row in records(*step.rows))
            try:
                found = {"the folder": visible(table), "the manifests": manifest_rows(table)}
            except FileNotFoundError as gone:
                raise Violation(f"{where}: a manifest of {name} names {gone}, which is not there") from gone
            for what, rows in found.items():
                if rows != wanted:
                    raise Violation(f"{where}: {what} of {name} should hold {wanted} and holds {rows}")


def _named(part: ManifestPart, ctx: str) -> ManifestPart:
    """Return a part of a write whose rows are not those of its ranges, with the write's name in that of its files."""
    return replace(part, ranges=(), files=[replace(one, final=f"{ctx}/{one.final}") for one in part.files])


def functions() -> Iterator[tuple[str, Sequence[Sequence[Step]]]]:
    """Yield what a batch function may write in its first and its last attempt."""
    a, b = Step("a", "sink", WHOLE), Step("b", "sink", WHOLE)
    yield "two tables in another order", [[a, b], [b, a]]
    yield "tasks cut in another way", [[Step("a", "sink", OTHER_CUT)], [a]]
    x, y = (offsets(0, 2, "x"),), (offsets(0, 1, "y"),)
    yield (
        "two writes to one table change places",
        [
            [Step("a", "sink", x, "x"), Step("a", "sink", y, "y")],
            [Step("a", "sink", y, "y"), Step("a", "sink", x, "x")],
        ],
    )
    yield (
        "only the second of two writes to one table comes again",
        [
            [Step("a", "sink", x, "x"), Step("a", "sink", y, "y")],
            [Step("a", "sink", y, "y")],
        ],
    )
    other, again = Step("a", "sink", x, "x"), Step("a", "sink", y, "y")
    yield "an attempt in between does other work", [[other], [again], [other]]
    yield (
        "an attempt in between writes elsewhere as well",
        [[a, other_b := Step("b", "sink", x, "x")], [b], [a, other_b]],
    )
    yield "a path made from the time", [[Step("hour=9", "sink", WHOLE)], [Step("hour=10", "sink", WHOLE)]]
    yield "another branch", [[a, Step("b", "extra", WHOLE)], [a]]


def another_order(watch: Watch = unwatched) -> int:
    """Do what `one_fault` does with a function that writes its two tables in another order the second time."""
    return one_fault(watch, list(functions())[:1])


def one_fault(watch: Watch = unwatched, of: Iterable[tuple[str, Sequence[Sequence[Step]]]] | None = None) -> int:
    """Let one request go wrong, each in turn and in each way; return the number of situations."""
    situations = 0
    for name, attempts in functions() if of is None else of:
        for fault, delays in (
            ("lost", (0,)),
            ("reply_lost", (0,)),
            ("late", range(_LATEST)),
            ("twice", range(_LATEST)),
        ):
            for delay in delays:
                for at in count():
                    where = f"{name}, request {at} {fault}, {delay} requests later"
                    world = World(Network(at, fault, delay), partial(watch, where, "the driver"))
                    last = world.run(attempts)
                    world.network.rest()
                    world.check(last, where)
                    situations += 1
                    if world.network.sent <= at:
                        break
    return situations
