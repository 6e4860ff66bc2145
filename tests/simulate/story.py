"""A story: one job on one stream, what happens to it, and what has to be true all the time and at the end."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gluepot.connectors.kafka.source import kafka_source
from gluepot.core.clock import SystemClock
from gluepot.core.errors import CheckpointError, ConfigError, DataLoss, EtlError, LeaseHeld, TransientError
from gluepot.core.storage import open_storage
from gluepot.streaming.checkpoints import moves, rewind, snapshot
from gluepot.streaming.query.run import Query
from gluepot.streaming.query.session import StreamSession
from gluepot.streaming.settings import StreamSettings
from gluepot.tables.compact import CompactSettings, Refused, compact
from gluepot.tables.table import open_table
from gluepot.tables.verify import verify
from tests.simulate import threads
from tests.simulate.broker import Broker
from tests.simulate.checks import Reader, View, leftovers
from tests.simulate.disk import Disk, Folder, Inode
from tests.simulate.objects import Network, ObjectStore
from tests.simulate.script import COPIES, Function
from tests.simulate.spark import new_frame
from tests.simulate.world import Violation, World

TOPIC = "clicks"
_LEASE_SECS = 15.0
_PATIENCE_SECS = 3600.0
_LOOK_SECS = 20.0


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens.

    Args:
        at_secs: when.
        kind: what; see `Story._happen`.
        number: how much of it, in the kind's own unit.
    """

    at_secs: float
    kind: str
    number: float = 0.0

    def __str__(self) -> str:
        return f"{self.at_secs:9.1f} s  {self.kind} {self.number:g}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything about a story that is decided beforehand.

    Args:
        seed: for everything else.
        on_s3: whether checkpoint and tables are in S3.
        partitions: of the topic.
        groups: the groups of tables that the job writes.
        window_secs: of the job.
        hour_secs: how long a folder named after the time keeps its name.
        records_a_sec: how many records are sent.
        fails: the share of calls of the batch function that raise.
        small: whether small batches run on the driver.
        lasts_secs: when faults end.
        network: how S3 answers until then.
        events: what happens, in order of time.
    """

    seed: int
    on_s3: bool
    partitions: int
    groups: tuple[str, ...]
    window_secs: float
    hour_secs: float
    records_a_sec: float
    fails: float
    small: bool
    lasts_secs: float
    network: Network
    events: tuple[Event, ...]

    def __str__(self) -> str:
        where = "S3" if self.on_s3 else "a local disk"
        head = (
            f"seed {self.seed}: a job with windows of {self.window_secs:g} s writes {', '.join(self.groups)} on {where};"
            f" {self.partitions} partitions, {self.records_a_sec:g} records/s, {self.fails:.0%} of the calls fail;"
            f" {self.network}"
        )
        return "\n".join([head, *map(str, self.events)])


_KINDS: Mapping[str, tuple[float, float]] = {
    "kill": (0, 400),  # the driver dies after so many actions
    "kill at once": (0, 0),
    "second driver": (0, 1),  # 0: on the same machine, 1: on another one
    "stop": (1, 120),  # the driver is stopped for so many seconds
    "broker away": (1, 40),
    "disk full": (1, 30),
    "power cut": (0, 0),
    "clock": (-90, 90),  # the machine's clock is set by so many seconds
    "compact": (0, 0),
    "verify": (0, 0),
    "rewind": (0, 0),
    "old checkpoint": (0, 0),
    "recreate": (0, 0),
}
_PARTLY = frozenset({"split", "hour"})
"""Groups of which a table does not hold every batch."""
_RARE = frozenset({"rewind", "old checkpoint", "recreate", "power cut"})


def draw(seed: int) -> Plan:
    """Draw a story."""
    chance = random.Random(f"{seed}/plan")
    on_s3 = chance.random() < 0.5
    lasts_secs = chance.choice((300.0, 900.0, 1800.0))
    kinds = [kind for kind in _KINDS if not (on_s3 and kind in {"disk full", "power cut"})]
    weights = [0.3 if kind in _RARE else 1.0 for kind in kinds]
    events = []
    for _ in range(chance.randrange(2, 14)):
        kind = chance.choices(kinds, weights)[0]
        low, high = _KINDS[kind]
        events.append(Event(round(chance.uniform(5, lasts_secs), 1), kind, round(chance.uniform(low, high))))
    network = Network()
    if on_s3 and chance.random() < 0.7:
        network = Network(*(chance.choice((0.0, 0.002, 0.01)) for _ in range(5)))
    groups = chance.sample(sorted(COPIES), chance.randrange(1, 4))
    window_secs = chance.choice((1.0, 5.0, 20.0, 60.0))
    return Plan(
        seed=seed,
        on_s3=on_s3,
        partitions=chance.randrange(1, 4),
        groups=tuple(groups),
        window_secs=window_secs,
        hour_secs=chance.choice((2.0, 30.0)),
        records_a_sec=chance.choice((1.0, 4.0)) / window_secs * 2,
        fails=chance.choice((0.0, 0.1, 0.3)),
        small=chance.random() < 0.7,
        lasts_secs=lasts_secs,
        network=network,
        events=tuple(sorted(events, key=lambda one: one.at_secs)),
    )


@dataclass(slots=True)
class Outcome:
    """What a story came to.

    Args:
        simulated_secs: how long it lasted, in its own time.
        batches: committed batches.
        records: records that were sent.
        actions: what processes did to disk, store and broker.
        looks: how often tables were looked at.
        starts: how often a driver was started.
        refused: starts that were refused, by the class of the error.
        digest: equal for equal runs.
    """

    simulated_secs: float = 0.0
    batches: int = 0
    records: int = 0
    actions: int = 0
    looks: int = 0
    starts: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    digest: int = 0


class Story:
    """Plays a plan.

    Args:
        plan: what happens.
        world: where.
        disks: the disks of the machines `a` and `b`.
        store: the object store.
        broker: the broker.
        folder: a real folder for what lies outside of the simulation.
    """

    def __init__(
        self, plan: Plan, world: World, disks: dict[str, Disk], store: ObjectStore, broker: Broker, folder: Path
    ) -> None:
        self.plan, self.world, self.disks, self.store, self.broker = plan, world, disks, store, broker
        self.outcome = Outcome()
        self._folder = folder
        self._root = "s3://lake" if plan.on_s3 else "/lake"
        self._checkpoint = f"{self._root}/checkpoint"
        self._chance = random.Random(f"{plan.seed}/story")
        self._script_chance = random.Random(f"{plan.seed}/script")
        self._reader = Reader()
        self._sent: dict[tuple[str, int], list[tuple[int, bool]]] = {}  # by topic id and partition: number, whether good
        self._lost: set[int] = set()
        self._committed: dict[tuple[str, int], int] = {}
        self._next_id = 0
        self._drivers: list[tuple[threads.Process, StreamSession]] = []
        self._offset_secs = {"a": 0.0, "b": 0.0}
        self._accepts_loss = False
        self._excuses: set[str] = set()
        self._old_checkpoint: Any = None
        self._ending = False
        self._written: set[str] = set()
        self._rewinding = False
        self._operators: list[threads.Process] = []
        self._batches: set[tuple[str, int]] = set()

    # What is played

    def play(self) -> Outcome:
        """Play the plan to its end.

        Raises:
            Violation: something was not as it must be.
        """
        world, plan = self.world, self.plan
        self.broker.create(TOPIC, plan.partitions)
        self.store.network = plan.network
        self._start_driver("a")
        world.scheduler.at(0.5, self._send)
        world.scheduler.at(_LOOK_SECS, self._look_now_and_then)
        for event in plan.events:
            world.scheduler.at(event.at_secs, lambda event=event: self._happen(event))
        self._run(plan.lasts_secs)
        self._calm_down()
        self._run(world.now + 200.0)  # requests that were late have arrived
        self._send_last()
        self._run(world.now + _PATIENCE_SECS, self._caught_up)
        if not self._caught_up():
            raise Violation(f"nothing goes on: {self._behind()} an hour after the last fault")
        self._ending = True
        for _, session in self._drivers:
            session.stop.set()
        self._run(world.now + 600.0, lambda: not self._living() and not self._busy())
        if self._living():
            raise Violation("a driver does not end ten minutes after it was asked to")
        self._operator("compaction", self._compact)
        self._run(world.now + 600.0, lambda: not self._busy())
        self._look()
        self._last_look()
        self.outcome.simulated_secs = world.now
        self.outcome.actions, self.outcome.digest = world.actions, world.digest
        self.outcome.batches = len(self._batches)
        self.outcome.records = self._next_id
        return self.outcome

    def _run(self, until_secs: float, done: Any = lambda: False) -> None:
        self.world.scheduler.at(until_secs, lambda: None)
        self.world.scheduler.run(until_secs, lambda: bool(self.world.scheduler.failures) or done())
        for process, error in self.world.scheduler.failures:
            raise Violation(f"{process.name} ends with {error!r}") from error

    def _calm_down(self) -> None:
        self.store.network = Network()
        self.broker.away_until = 0.0
        for disk in self.disks.values():
            disk.full_until = 0.0
        for process, _ in self._drivers:
            process.dies_at_action = None
        self.world.note("story", "faults end")

    def _send_last(self) -> None:
        """Let a new driver, which clears up what earlier ones have left, run one more batch."""
        for process in self._living():
            process.kill()
        self._append(20)

    def _living(self) -> list[threads.Process]:
        return [process for process, _ in self._drivers if process.alive and process.tasks]

    # The stream

    def _send(self) -> None:
        if self._ending or self.world.now > self.plan.lasts_secs:
            return
        self._append(self._chance.randrange(1, 5))
        gap_secs = self._chance.expovariate(self.plan.records_a_sec / 2.5)
        self.world.scheduler.at(self.world.now + gap_secs, self._send)

    def _append(self, records: int) -> None:
        for _ in range(records):
            number = self._next_id
            self._next_id += 1
            good = self._chance.random() > 0.03
            value = json.dumps({"id": number, "kind": self._chance.choice("ab")}).encode()
            partition = self._chance.randrange(self.plan.partitions)
            topic_id, _ = self.broker.send(TOPIC, partition, value if good else value[:-3])
            self._sent.setdefault((topic_id, partition), []).append((number, good))

    def _behind(self) -> str:
        topic = self.broker.topics[TOPIC]
        behind = {
            partition: topic.end(partition) - self._committed.get((topic.topic_id, partition), 0)
            for partition in range(len(topic.partitions))
        }
        return f"records not committed, by partition: {behind}"

    def _caught_up(self) -> bool:
        self._note_commits()
        topic = self.broker.topics[TOPIC]
        return all(
            self._committed.get((topic.topic_id, partition), 0) >= topic.end(partition)
            for partition in range(len(topic.partitions))
        )

    # The job

    def _start_driver(self, host: str) -> None:
        session = StreamSession(job="simulated", lease_secs=_LEASE_SECS)
        number = self.outcome.starts
        self.outcome.starts += 1
        process = self.world.start(
            f"driver {number}", host, lambda: self._drive(session, number), self._offset_secs[host]
        )
        self._drivers = [one for one in self._drivers if one[0].alive and one[0].tasks]
        self._drivers.append((process, session))
        process.at_death.append(lambda: self._again_later(host))

    def _again_later(self, host: str) -> None:
        if not self._ending:
            wait_secs = self._chance.uniform(1.0, 10.0)
            self.world.scheduler.at(self.world.now + wait_secs, lambda: self._restart(host))

    def _restart(self, host: str) -> None:
        if self._ending or self._living():
            return
        if self._busy():
            self._again_later(host)
        else:
            self._start_driver(host)

    def _drive(self, session: StreamSession, number: int) -> None:
        plan, process = self.plan, threads.process()
        options = {
            "bootstrap.servers": f"broker-{number}:9092",
            "topicName": TOPIC,
            "startingOffsets": "earliest",
            "inferSchema": "true",
            "classification": "json",
            "failOnDataLoss": "false" if self._accepts_loss else "true",
        }
        source = kafka_source(options, lambda *_: None)
        settings = StreamSettings(
            window_size_secs=plan.window_secs,
            checkpoint_location=self._checkpoint,
            persist=False,
            small_batch_records=10_000 if plan.small else 0,
        )
        chance = random.Random(self._script_chance.random())
        function = Function(self._root, plan.groups, chance, process.epoch, plan.hour_secs, self._fails(), self._written)
        try:
            Query(new_frame(self.world, source, self._folder), function, settings, session, "simulated").run()
            self.world.note(process.name, "ends")
        except EtlError as error:
            self.world.note(process.name, f"ends with {type(error).__name__}: {error}")
            self.outcome.refused[type(error).__name__] += 1
            self._judge_refusal(process, error)
        if process.alive and not self._ending:
            self._again_later(process.host)

    def _fails(self) -> float:
        return 0.0 if self.world.now > self.plan.lasts_secs else self.plan.fails

    def _judge_refusal(self, process: threads.Process, error: EtlError) -> None:
        """A driver may end with an error only if the story gave it a reason."""
        if isinstance(error, TransientError | LeaseHeld):
            return
        if isinstance(error, DataLoss) and "recreate" in self._excuses:
            self._accepts_loss = True
            return
        if isinstance(error, CheckpointError) and (self._rewinding or "old checkpoint" in self._excuses):
            self._operator("rewind", self._rewind)
            return
        raise Violation(f"{process.name} is refused without a reason: {type(error).__name__}: {error}")

    # What happens to it

    def _happen(self, event: Event) -> None:
        self.world.note("story", f"{event.kind} {event.number:g}")
        living = self._living()
        match event.kind:
            case "kill" if living:
                living[-1].dies_at_action = living[-1].actions + int(event.number)
            case "kill at once" if living:
                living[-1].kill()
            case "second driver":
                self._start_driver("b" if event.number else "a")
            case "stop" if living:
                living[-1].stopped_until = self.world.now + event.number
            case "broker away":
                self.broker.away_until = self.world.now + event.number
            case "disk full":
                self.disks["a"].full_until = self.world.now + event.number
            case "power cut":
                self._cut_power()
            case "clock":
                self._set_clock(event.number)
            case "compact":
                self._operator("compaction", self._compact)
            case "verify":
                self._operator("verification", self._verify)
            case "rewind":
                self._operator("rewind", self._rewind)
            case "old checkpoint":
                self._restore_old_checkpoint()
            case "recreate":
                self._recreate()

    def _operator(self, name: str, work: Any) -> None:
        def run() -> None:
            try:
                work()
            except (TransientError, ConfigError, LeaseHeld) as error:
                self.world.note(name, f"gives up: {error}")

        self._operators.append(self.world.start(name, "a", run, self._offset_secs["a"]))

    def _busy(self) -> bool:
        """Tell whether a person is at work."""
        self._operators = [one for one in self._operators if one.alive and one.tasks]
        return bool(self._operators)

    def _cut_power(self) -> None:
        for process in self.world.processes:
            process.kill()
        for disk in self.disks.values():
            disk.cut()

    def _set_clock(self, secs: float) -> None:
        self._offset_secs["a"] += secs
        for process in self.world.processes:
            if process.host == "a":
                process.clock_offset_secs = self._offset_secs["a"]

    def _recreate(self) -> None:
        old = self.broker.topics[TOPIC].topic_id
        self._excuses.add("recreate")
        self._note_commits()
        for (topic_id, partition), sent in self._sent.items():
            if topic_id == old:
                # What was not committed by now may be in the tables, or not: a batch may have read it already.
                self._lost.update(number for number, _ in sent[self._committed.get((old, partition), 0) :])
        self.broker.create(TOPIC, self.plan.partitions)

    def _restore_old_checkpoint(self) -> None:
        """A person puts back a copy of the checkpoint, taken at the last such event, while no driver runs."""
        if self._old_checkpoint is None:
            self._old_checkpoint = self._copy_checkpoint()
            return
        for process in self._living():
            process.kill()
        self._excuses.add("old checkpoint")
        self._put_checkpoint(self._old_checkpoint)
        self._old_checkpoint = None

    def _copy_checkpoint(self) -> dict[str, bytes]:
        return {
            path: data for path, data in self._files("checkpoint").items() if path.startswith(("metadata", "offsets/", "commits/"))
        }

    def _put_checkpoint(self, copy: Mapping[str, bytes]) -> None:
        for path in self._files("checkpoint"):
            if path.startswith(("metadata", "offsets/", "commits/")):
                self._set_file(f"checkpoint/{path}", None)
        for path, data in copy.items():
            self._set_file(f"checkpoint/{path}", data)

    def _set_file(self, path: str, data: bytes | None) -> None:
        if self.plan.on_s3:
            self.store.set(f"lake/{path}", data)
            return
        folder = self.disks["a"].root
        *parents, name = f"lake/{path}".split("/")
        for part in parents:
            if part not in folder.names:
                folder.change(part, Folder())
            folder.sync()
            found = folder.names[part]
            assert isinstance(found, Folder)
            folder = found
        folder.change(name, None if data is None else Inode(data, data))
        folder.sync()

    # What people do

    def _compact(self) -> None:
        for table in self._tables():
            storage = open_storage(f"{self._root}/{table}")
            owner = f"o{threads.process().pid}"
            for found in compact(storage, CompactSettings(), SystemClock(), owner):
                if isinstance(found, Refused):
                    raise Violation(f"compaction refuses a sound file: {found.message}")

    def _verify(self) -> None:
        for table in self._tables():
            storage = open_storage(f"{self._root}/{table}")
            found = verify(storage, None).findings
            if table.split("/")[0] in _PARTLY:
                found = [one for one in found if one.kind != "gap"]  # other batches are in other tables
            if found:
                raise Violation(f"verify reports {found[0]} of {table}, which is sound")

    def _rewind(self) -> None:
        """Stop the job, begin a new query where the tables end, and start it: `gluepot checkpoint rewind`."""
        for process in self._living():
            process.kill()
        if self.plan.on_s3:
            threads.pause(150.0)  # whatever was under way has arrived
        storage = open_storage(self._checkpoint)
        ends = {}
        for table in self._tables():
            if table.split("/")[0] not in _PARTLY:
                path = f"{self._root}/{table}"
                ends[table] = moves.from_records(open_table(path).commits, path, None)
        if ends:
            start = moves.same_place(ends)
            self._rewinding = True  # until it has succeeded, no query starts
            rewind.start_over(storage, snapshot.read(storage), start, SystemClock())
            self._rewinding = False
            self.world.note("rewind", f"starts over at {dict(start.ends())}")

    # What must be true

    def _tables(self) -> list[str]:
        """Return the tables that the job has begun to write."""
        return sorted(table for table in self._written if self._has_commits(table))

    def _has_commits(self, table: str) -> bool:
        if self.plan.on_s3:
            return bool(self.store.below(f"lake/{table}/_gluepot/commits/", most=1))
        return any(path.startswith("_gluepot/commits/") for path in self._files(table))

    def _files(self, folder: str) -> dict[str, bytes]:
        if self.plan.on_s3:
            prefix = f"lake/{folder}/"
            return {name[len(prefix) :]: self.store.objects[name] for name in self.store.below(prefix)}
        found: dict[str, bytes] = {}
        node: Any = self.disks["a"].root
        for part in ("lake", *folder.split("/")):
            node = node.names.get(part) if isinstance(node, Folder) else None
        waiting = [("", node)]
        while waiting:
            path, node = waiting.pop()
            if isinstance(node, Folder):
                waiting += [(f"{path}{name}/" if isinstance(one, Folder) else f"{path}{name}", one) for name, one in node.names.items()]
            elif isinstance(node, Inode) and not path.endswith(".gluepot-tmp"):
                found[path] = node.data
        return found

    def _note_commits(self) -> None:
        """Remember how far the query has come: what it has committed has to be in the tables from now on."""
        files = self._files("checkpoint")
        if "metadata" not in files:
            return
        query = files["metadata"].decode(errors="replace")
        done = [int(path[8:]) for path in files if path.startswith("commits/") and path[8:].isdecimal()]
        self._batches.update((query, batch) for batch in done)
        if not done or (entry := files.get(f"offsets/{max(done)}")) is None:
            return
        for topic in json.loads(entry.decode().splitlines()[2])["topics"].values():
            for partition, (_, end) in topic["spans"].items():
                key = topic["id"], int(partition)
                self._committed[key] = max(end, self._committed.get(key, 0))

    def _look_now_and_then(self) -> None:
        if self._ending:
            return
        self._look()
        gap_secs = max(_LOOK_SECS, self.plan.window_secs) * self._chance.uniform(0.2, 2.0)
        self.world.scheduler.at(self.world.now + gap_secs, self._look_now_and_then)

    def _views(self) -> dict[str, View]:
        return {table: self._reader.by_manifests(self._files(table)) for table in self._tables()}

    def _look(self) -> None:
        """Look at all tables at this instant, as a reader of the manifests."""
        self.outcome.looks += 1
        self._note_commits()
        views = self._views()
        for table, view in views.items():
            if view.faults:
                raise Violation(f"{table}: {view.faults[0]}")
        committed_good, committed_bad = self._obliged()
        for group in self.plan.groups:
            own = [view for table, view in views.items() if table.split("/")[0] == group]
            found: Counter[int] = Counter()
            for view in own:
                found.update(view.ids)
            self._compare(group, found, committed_good, COPIES[group])
            if group == "all" and own:
                self._compare_rejects(own[0], committed_bad)

    def _obliged(self) -> tuple[set[int], set[tuple[str, int, int]]]:
        good: set[int] = set()
        bad: set[tuple[str, int, int]] = set()
        for (topic_id, partition), end in self._committed.items():
            for offset, (number, is_good) in enumerate(self._sent.get((topic_id, partition), [])[:end]):
                if is_good:
                    good.add(number)
                else:
                    bad.add((topic_id, partition, offset))
        return good, bad

    def _compare(self, group: str, found: Counter[int], committed: Iterable[int], copies: int) -> None:
        committed = set(committed) - self._lost
        for number in committed:
            if found[number] < copies:
                raise Violation(f"{group}: record {number} is committed and is there {found[number]} times, not {copies}")
            if found[number] > copies:
                raise Violation(f"{group}: record {number} is there {found[number]} times, not {copies}")
        for number, times in found.items():
            if number >= self._next_id:
                raise Violation(f"{group}: record {number} was never sent")
            # Until a batch has ended, what an earlier attempt wrote elsewhere may be there, too.
            if times > copies and group in {"all", "both"} and number not in committed:
                raise Violation(f"{group}: record {number}, not committed yet, is there {times} times")

    def _compare_rejects(self, view: View, committed: Iterable[tuple[str, int, int]]) -> None:
        if "recreate" in self._excuses:
            return  # a rejects file does not tell the topics of one name apart
        for _, partition, offset in committed:
            if view.rejected[partition, offset] != 1:
                raise Violation(f"all: the rejected record {partition}/{offset} is there {view.rejected[partition, offset]} times")

    def _last_look(self) -> None:
        """When all is quiet, readers of the folder see the same, and nothing is left over."""
        for table, view in self._views().items():
            files = self._files(table)
            if (by_folder := self._reader.by_folder(files)) != view.ids:
                odd = next(iter((by_folder - view.ids) or (view.ids - by_folder)))
                raise Violation(
                    f"{table}: record {odd} is in the folder {by_folder[odd]} times, and {view.ids[odd]} times by manifests"
                )
            if self.plan.on_s3 and table.split("/")[0] in _PARTLY:
                continue  # an intent whose creation came late stays in a table to which nobody writes any more
            if left := leftovers(files, view.named):
                raise Violation(f"{table}: {left[0]} is left over")
