"""A story: one job on one stream, what happens to it, and what has to be true all the time and at the end."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException

from gluepot.connectors.kafka.source import kafka_source
from gluepot.core.clock import SystemClock
from gluepot.core.errors import (
    CheckpointError,
    ConfigError,
    DataLoss,
    EtlError,
    LeaseHeld,
    PermanentError,
    TransientError,
)
from gluepot.core.storage import open_storage
from gluepot.streaming.checkpoints import lease, rewind, snapshot
from gluepot.streaming.checkpoints.table_ends import table_ends
from gluepot.streaming.query.run import Query
from gluepot.streaming.query.session import StreamSession
from gluepot.streaming.settings import StreamSettings
from gluepot.tables.compact import CompactSettings, Refused, compact
from gluepot.tables.purging import purge_files
from gluepot.tables.verify import verify
from tests.model.changes import Change
from tests.simulate import threads
from tests.simulate.broker import Broker
from tests.simulate.checks import Reader, View, leftovers
from tests.simulate.disk import Disk, Folder, Inode
from tests.simulate.objects import Network, ObjectStore
from tests.simulate.plan import COPIES, Event, Plan
from tests.simulate.script import PARTLY, Function, table_of
from tests.simulate.spark import DONE, new_frame
from tests.simulate.world import Violation, World

TOPIC = "clicks"
_LAG_NOTICED_SECS = 5.0  # a start that found no topic has ended by then
_LEASE_SECS = 15.0
_PATIENCE_SECS = 3600.0
_LOOK_SECS = 20.0
_STEP_SECS = 5.0
_LATEST_SECS = 400.0  # a request may be carried out again 300 s after it was sent


_WHOLE = frozenset({"all", "both"})
"""Groups in which each write holds all records of its batch."""


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
    refused: dict[str, int] = field(default_factory=dict)
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
        self._sent: dict[
            tuple[str, int], list[tuple[int, bool]]
        ] = {}  # by topic id and partition: number, whether good
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
        self._rewound_secs = -_LATEST_SECS
        self._damaged: dict[tuple[str, str], bytes] = {}
        self._ever_damaged: dict[tuple[str, str], float] = {}  # and when, last
        self._purged: dict[str, set[int]] = {}
        self._operators: list[threads.Process] = []
        self._batches: set[tuple[str, int]] = set()
        self._seen: dict[str, View] = {}
        self._looks_now = False
        world.watchers.append(self._changed)

    # What is played

    def play(self) -> Outcome:
        """Play the plan to its end.

        Raises:
            Violation: something was not as it must be.
        """
        world, plan = self.world, self.plan
        self.broker.create(TOPIC, plan.partitions)
        self.store.network, self.store.longest_secs = plan.network, plan.longest_secs
        self._start_driver("a")
        world.scheduler.at(0.5, self._send)
        world.scheduler.at(_LOOK_SECS, self._look_now_and_then)
        for event in plan.events:
            world.scheduler.at(event.at_secs, lambda event=event: self._begin(event))
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
        """Let time pass until something is done, which is looked at every few seconds, or until a given time."""
        scheduler = self.world.scheduler
        while scheduler.now < until_secs and not done():
            self._advance(min(until_secs, scheduler.now + _STEP_SECS))

    def _advance(self, until_secs: float) -> None:
        scheduler = self.world.scheduler
        scheduler.at(until_secs, lambda: None)
        scheduler.run(until_secs, lambda: bool(scheduler.failures) or scheduler.now >= until_secs)
        for process, error in scheduler.failures:
            raise Violation(f"{process.name} ends with {error!r}") from error

    def _calm_down(self) -> None:
        self.store.network = Network()
        self.broker.come_back()
        self.store.come_back()
        self.world.commits_refused_until = 0.0
        for disk in self.disks.values():
            disk.full_until = 0.0
        for table, path in list(self._damaged):
            self._repair(table, path)
        for process, _ in self._drivers:
            process.forget_due()
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
        plan, process, began_secs = self.plan, threads.process(), self.world.now
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
        function = Function(
            self._root,
            plan.groups,
            chance,
            process.epoch,
            plan.hour_secs,
            self._fails(),
            self._written,
            self._begin_function,
        )
        try:
            Query(new_frame(self.world, source, self._folder), function, settings, session, "simulated").run()
            self.world.note(process.name, "ends")
        except StreamingQueryException as error:
            self.world.note(process.name, f"ends with {error}")
            self._refuse("StreamingQueryException")
        except EtlError as error:
            self.world.note(process.name, f"ends with {type(error).__name__}: {error}")
            self._refuse(type(error).__name__)
            self._judge_refusal(process, error, began_secs)
        # The process ends with its last line, whatever its daemon threads are doing.
        self.world.scheduler.at(self.world.now, process.kill)

    def _refuse(self, kind: str) -> None:
        self.outcome.refused[kind] = self.outcome.refused.get(kind, 0) + 1

    def _fails(self) -> float:
        return 0.0 if self.world.now > self.plan.lasts_secs else self.plan.fails

    def _judge_refusal(self, process: threads.Process, error: EtlError, began_secs: float) -> None:
        """A driver may end with an error only if the story gave it a reason."""
        if isinstance(error, TransientError | LeaseHeld):
            return
        if isinstance(error, ConfigError) and self.world.now < self.broker.lags_until + _LAG_NOTICED_SECS:
            return  # a start that finds no topic
        if isinstance(error, DataLoss) and "recreate" in self._excuses:
            self._accepts_loss = True
            return
        if isinstance(error, CheckpointError) and "suspended" in self._excuses and "lost its metadata" in str(error):
            return  # this is the one that was suspended
        if isinstance(error, CheckpointError) and (self._rewinding or {"old checkpoint", "suspended"} & self._excuses):
            # A driver that wakes up after a rewind may still log a batch in the checkpoint of the new query.
            self._operator("rewind", self._rewind)
            return
        if isinstance(error, CheckpointError) and self.plan.on_s3 and began_secs < self._rewound_secs + _LATEST_SECS:
            # A deletion that the rewind sent twice may hit the new query's files, which have the same names. The query
            # may notice it only at a later batch.
            self._operator("rewind", self._rewind)
            return
        raise Violation(f"{process.name} is refused without a reason: {type(error).__name__}: {error}")

    # What happens to it

    def _begin(self, event: Event) -> None:
        """Let something happen at once, or just before the newest driver changes a file."""
        living = self._living()
        if self.world.now >= self.plan.lasts_secs:
            return  # the time of faults has just ended
        if event.changes and living:
            living[-1].before_change(event.changes, lambda: self._happen(event))
        else:
            self._happen(event)

    def _happen(self, event: Event) -> None:
        self.world.note("story", f"{event.kind} {event.number:g}")
        living = self._living()
        match event.kind:
            case "kill" if living:
                living[-1].kill()
            case "second driver":
                self._start_driver("b" if event.number else "a")
            case "stop" if living:
                living[-1].stopped_until = self.world.now + event.number
            case "replaced" if living:
                living[-1].stopped_until = self.world.now + event.number
                self._start_driver("b")
            case "broker away":
                self.broker.before_a_request(lambda: self.broker.go_away(event.number))
            case "broker lags":
                self.broker.before_a_request(lambda: self.broker.lag(event.number))
            case "store away":
                self.store.go_away(event.number)
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
                self.broker.before_a_request(lambda: self._recreate(filled=event.number > 0))
            case "purge":
                self._operator("purge", self._purge)
            case "damage":
                self._damage(event.number)
            case "commits refused":
                self.world.commits_refused_until = self.world.now + event.number

    def _operator(self, name: str, work: Any) -> None:
        def run() -> None:
            began = self.world.now
            try:
                work()
            except (TransientError, ConfigError, LeaseHeld) as error:
                self.world.note(name, f"gives up: {error}")
            except PermanentError as error:
                # What was damaged before has to be named, and the work has to go on with the rest.
                if not any(path in str(error) and at > began for (_, path), at in self._ever_damaged.items()):
                    raise

        self._operators.append(self.world.start(name, "a", run, self._offset_secs["a"]))

    def _busy(self) -> bool:
        """Tell whether a person is at work."""
        self._operators = [one for one in self._operators if one.alive and one.tasks]
        return bool(self._operators)

    def _cut_power(self) -> None:
        for process in self.world.processes:
            process.kill()
        self._note_commits()
        for disk in self.disks.values():
            disk.cut()
        self._seen.clear()
        self._forget_newest_batch()

    def _begin_function(self, batch: int) -> None:
        """The commit of a query that is gone may arrive when the next query has read the log, and runs the batch again."""
        self.world.begin_function(batch)
        self._forget_newest_batch(batch)

    def _forget_newest_batch(self, only: int | None = None) -> None:
        """The newest batch may run again, as Spark does not flush its commit log, and its tables change meanwhile."""
        files = self._files("checkpoint")
        planned = sorted(
            (int(path[8:]) for path in files if path[:8] == "offsets/" and path[8:].isdecimal()), reverse=True
        )
        if only is not None and planned[:1] != [only]:
            return
        for batch in planned:
            lines = files[f"offsets/{batch}"].decode(errors="replace").splitlines()
            if len(lines) < 3 or not lines[2].endswith("}"):
                continue
            for topic in json.loads(lines[2])["topics"].values():
                for partition, (start, _) in topic["spans"].items():
                    key = topic["id"], int(partition)
                    self._committed[key] = min(start, self._committed.get(key, start))
            return

    def _set_clock(self, secs: float) -> None:
        self._offset_secs["a"] += secs
        for process in self.world.processes:
            if process.host == "a":
                process.clock_offset_secs = self._offset_secs["a"]

    def _recreate(self, *, filled: bool) -> None:
        """Delete the topic and create it again, perhaps at once with as many records as it had, and some more."""
        old = self.broker.topics[TOPIC].topic_id
        records = sum(map(len, self.broker.topics[TOPIC].partitions))
        self._excuses.add("recreate")
        self._note_commits()
        for (topic_id, partition), sent in self._sent.items():
            if topic_id == old:
                # What was not committed by now may be in the tables, or not: a batch may have read it already.
                self._lost.update(number for number, _ in sent[self._committed.get((old, partition), 0) :])
        self.broker.create(TOPIC, self.plan.partitions)
        if filled:
            self._append(records + 20 * self.plan.partitions)

    def _damage(self, secs: float) -> None:
        """Change the bytes of a data file, and put them right after a while."""
        named = [(table, path) for table, view in self._views().items() for path in sorted(view.named)]
        named = [
            (table, path) for table, path in named if path.endswith(".parquet") and (table, path) not in self._damaged
        ]
        if not named:
            return
        table, path = self._chance.choice(named)
        data = self._files(table)[path]
        at = self._chance.randrange(len(data))
        odd = data[:at] if self._chance.random() < 0.5 else data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
        self._damaged[table, path] = data
        self._ever_damaged[table, path] = self.world.now
        self._set_file(f"{table}/{path}", odd)
        self.world.note("story", f"damages {table}/{path}")
        self.world.scheduler.at(self.world.now + secs, lambda: self._repair(table, path))

    def _repair(self, table: str, path: str) -> None:
        data = self._damaged.pop((table, path), None)
        if data is not None and path in self._files(table):
            self._set_file(f"{table}/{path}", data)

    def _restore_old_checkpoint(self) -> None:
        """A person puts back a copy of the checkpoint, taken at the last such event, while no driver runs."""
        if self._old_checkpoint is None:
            self._old_checkpoint = self._copy_checkpoint()
            return
        if not _WHOLE.issuperset(self.plan.groups) or self.world.is_any_under_way():
            return  # nobody can tell by the tables whether their newest batch has come to its end
        for process in self._living():
            process.kill()
        self._excuses.add("old checkpoint")
        self._put_checkpoint(self._old_checkpoint)
        self._old_checkpoint = None

    def _copy_checkpoint(self) -> dict[str, bytes]:
        return {
            path: data
            for path, data in self._files("checkpoint").items()
            if path.startswith(("metadata", "offsets/", "commits/"))
        }

    def _put_checkpoint(self, copy: Mapping[str, bytes]) -> None:
        for path in self._files("checkpoint"):
            if path.startswith(("metadata", "offsets/", "commits/")):
                self._set_file(f"checkpoint/{path}", None)
        for path, data in copy.items():
            self._set_file(f"checkpoint/{path}", data)

    def _set_file(self, path: str, data: bytes | None) -> None:
        self._seen.clear()
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
                if isinstance(found, Refused) and (table, found.path) not in self._ever_damaged:
                    raise Violation(f"compaction refuses a sound file: {found.message}")

    def _verify(self) -> None:
        for table in self._tables():
            storage = open_storage(f"{self._root}/{table}")
            before = set(self._damaged)
            found = verify(storage, None).findings
            named = self._reader.by_manifests(self._sound_files(table)).named
            for _, path in sorted(one for one in before & set(self._damaged) if one[0] == table and one[1] in named):
                if all(one.where != path for one in found):
                    raise Violation(f"verify does not report {table}/{path}, which is damaged")
            found = [one for one in found if (table, one.where) not in self._ever_damaged]
            if table.split("/")[0] in PARTLY:
                found = [one for one in found if one.kind != "gap"]  # other batches are in other tables
            if self._is_staged_again(table):
                found = [one for one in found if one.kind != "unknown_file"]
            if found:
                raise Violation(f"verify reports {found[0]} of {table}, which is sound")

    def _is_staged_again(self, table: str) -> bool:
        """Tell whether a late upload put a staged file back; if a copy of it comes late as well, no manifest names it."""
        return any(name.startswith(f"lake/{table}/_gluepot/staging/") for name in self.store.revived)

    def _purge(self) -> None:
        """Delete all data files of a table that are there now, as `purge_s3_path` does with a retention of 0."""
        tables = self._tables()
        if not tables:
            return
        table = self._chance.choice(tables)
        storage = open_storage(f"{self._root}/{table}")
        gone = self._purged.setdefault(table.split("/")[0], set())
        paths = [path for path in storage.list("") if not path.startswith("_")]
        gone.update(self._reader.by_folder(self._sound_files(table)))

        def delete(doomed: Sequence[str]) -> bool:
            storage.delete(doomed)
            return True

        purge_files(storage, paths, SystemClock(), f"o{threads.process().pid}", delete)

    def _rewind(self) -> None:
        """Stop the job and begin a new query where the tables end: `gluepot checkpoint rewind --from-table`.

        A driver that is suspended, perhaps with its whole machine, is not seen, and wakes up some time later.
        """
        for process in self._living():
            if process.stopped_until <= self.world.now:
                process.kill()
            else:
                self._excuses.add("suspended")
        if self.plan.on_s3:
            threads.pause(150.0)  # whatever was under way has arrived
        storage = open_storage(self._checkpoint)
        with lease.take(storage, SystemClock()) as mine:
            before = snapshot.read(storage)
            paths = [f"{self._root}/{table}" for table in self._tables() if table.split("/")[0] not in PARTLY]
            if not paths:
                return
            ends = table_ends(storage, before, paths, None, drop_unfinished=True)
            self._rewinding = True  # until it has succeeded, no query may start
            rewind.begin_anew(storage, before, ends.start, mine, SystemClock(), ends)
            self._rewinding = False
        self._rewound_secs = self.world.now
        self.world.start_over()
        self.world.note("rewind", f"starts over at {dict(ends.start.ends())}")

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
                waiting += [
                    (f"{path}{name}/" if isinstance(one, Folder) else f"{path}{name}", one)
                    for name, one in node.names.items()
                ]
            elif isinstance(node, Inode) and not path.endswith(".gluepot-tmp"):
                found[path] = node.data
        return found

    def _note_commits(self) -> None:
        """Remember how far the query has come: what it has committed has to be in the tables from now on."""
        files = self._files("checkpoint")
        if "metadata" not in files:
            return
        query = files["metadata"].decode(errors="replace")
        done = [
            int(path[8:])
            for path, data in files.items()
            if path[:8] == "commits/" and data == DONE and path[8:].isdecimal()
        ]
        done = [batch for batch in done if not self.world.is_under_way(batch)]
        self._batches.update((query, batch) for batch in done)
        lines = [] if not done else files.get(f"offsets/{max(done)}", b"").decode(errors="replace").splitlines()
        if len(lines) < 3 or not lines[2].endswith("}"):
            return  # a power cut has torn it
        for topic in json.loads(lines[2])["topics"].values():
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
        """Return what each table holds; a table is read again only after it has changed."""
        for table in self._written - self._seen.keys():
            if self._has_commits(table):
                self._seen[table] = self._reader.by_manifests(self._sound_files(table))
        return dict(sorted(self._seen.items()))

    def _changed(self, change: Change) -> None:
        """A file has come, gone or changed: look at the tables before anything else happens."""
        path, table = change.path, table_of(change.path)
        if change.what in {"exists", "missed"} or "/_gluepot/staging/" in path or "/intents/" in path:
            return
        if table == "checkpoint":
            is_news = path.startswith("lake/checkpoint/commits/")
        else:
            self._seen.pop(table, None)
            is_news = "/_gluepot/" not in path or "/_gluepot/co" in path
        if is_news and not self._looks_now and not self._ending:
            self._looks_now = True
            self.world.scheduler.at(self.world.now, self._look)

    def _sound_files(self, table: str) -> dict[str, bytes]:
        """Return the files of a table as they are without the damage that the story has done."""
        files = self._files(table)
        files.update({path: data for (of, path), data in self._damaged.items() if of == table and path in files})
        return files

    def _look(self) -> None:
        """Look at all tables at this instant, as a reader of the manifests."""
        self.outcome.looks += 1
        self._looks_now = False
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
        purged = self._purged.get(group, set())
        for number in committed:
            if found[number] < copies and number not in purged:
                raise Violation(
                    f"{group}: record {number} is committed and is there {found[number]} times, not {copies}"
                )
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
                raise Violation(
                    f"all: the rejected record {partition}/{offset} is there {view.rejected[partition, offset]} times"
                )

    def _last_look(self) -> None:
        """When all is quiet, readers of the folder see the same, and nothing is left over."""
        for table, view in self._views().items():
            files = self._files(table)
            if self._is_staged_again(table):
                continue
            if (by_folder := self._reader.by_folder(files)) != view.ids:
                odd = next(iter((by_folder - view.ids) or (view.ids - by_folder)))
                raise Violation(
                    f"{table}: record {odd} is in the folder {by_folder[odd]} times, and {view.ids[odd]} times by manifests"
                )
            if self.plan.on_s3 and table.split("/")[0] in PARTLY:
                continue  # an intent whose creation came late stays in a table to which nobody writes any more
            if left := leftovers(files, view.named):
                raise Violation(f"{table}: {left[0]} is left over")
