"""A run against one job: start it, kill it, start it again; at the end let it catch up and count every record."""

from __future__ import annotations

import math
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

from botocore.exceptions import BotoCoreError, ClientError
from kafka.errors import KafkaError

from tests.crash import manifests
from tests.crash.checker import Expected, Verdict, check_database, check_folder, check_manifests, parts
from tests.crash.database import Database
from tests.crash.driver import Driver, NotInTime, Victim, wait_until
from tests.crash.journal import Journal
from tests.crash.lanes import Folder, Lane, open_lane
from tests.crash.outcome import MOST_FAILED_STARTS, Kill, Outcome
from tests.crash.points import Point
from tests.crash.producer import Producer
from tests.crash.reshards import Resharder
from tests.crash.s3_log import RequestLog
from tests.crash.streams import Stream
from tests.crash.watcher import FolderWatcher, TableWatcher, Watcher
from tests.crash.world import Script, World
from tests.model.recording import accepted, build

FIRST_RECORDS = 900
RECORDS_PER_SEC = 10
START_SECS = 300.0
CATCH_UP_SECS = 600.0
NOTICE_SECS = 60.0
END_SECS = 30.0

# Of random kills, how many hit a job that is still starting, and when.
STARTING_SHARE = 0.25
STARTING_SECS = 8.0
AT_WORK_SECS = 2.5
WORKER_AT_WORK_SECS = 1.0
"""Of a worker, whose death costs the job a second's wait and no start."""
PATIENT = ("--batch-option", "batchMaxRetries=100")
"""Where only workers are killed, several deaths in a row may hit one batch, and four of them would end the job."""
NEXT_BATCH_SHARE = 0.8
"""Of the deaths of workers, after how many the next kill waits for a batch; the others may hit the same one again."""
IN_WORKERS_SHARE = 0.5
"""Of starts whose batches run in workers, as large ones do; the others run them on the driver."""

# What clients of the streams raise.
ServerTrouble = (KafkaError, BotoCoreError, ClientError)


@dataclass(frozen=True)
class Plan:
    """A campaign to run.

    Args:
        name: for reports.
        lane: see `lanes.SOURCES`.
        script: the job.
        seed: text; everything random comes from it.
        points: kill points, in this order.
        victims: of random kills, after the points.
        reshards: splits and merges, spread over all those starts; of a stream that knows them.
        until: on the monotonic clock; kills that have not been done by then are left out.
    """

    name: str
    lane: str
    script: Script
    seed: str
    points: Sequence[Point] = ()
    victims: Sequence[Victim] = ()
    reshards: int = 0
    until: float = math.inf


def run(plan: Plan, stream: Stream, folder: Path, say: Callable[[str], None]) -> Outcome:
    """Run a campaign on a stream that is empty yet; what goes wrong is in the outcome."""
    outcome = Outcome(plan.name, plan.lane, plan.script.file, plan.seed)
    folder.mkdir(parents=True)
    began = time.monotonic()
    with open_lane(plan.lane, folder) as lane:
        world = World(folder, lane, plan.script, stream)
        journal = folder / "journal"
        try:
            outcome.records = _kill_and_catch_up(plan, world, journal, outcome, say)
        except (NotInTime, *ServerTrouble) as stuck:
            outcome.faults.append(f"{type(stuck).__name__}: {stuck}; what the job had not read by then counts as lost")
        compare(world, lane, journal, outcome)
        if lane.log is not None:
            _ask_the_model(lane.log, outcome)
        if left := world.unpublished_files():
            say(f"{plan.name}: left over: {', '.join(left)}")
    outcome.secs = time.monotonic() - began
    return outcome


def _ask_the_model(log: RequestLog, outcome: Outcome) -> None:
    """Let the model of the commit protocol judge what the S3 server carried out, in its order."""
    entries = list(log.entries(outcome.name))
    if shutil.which("cargo") is None:
        return
    is_allowed, said = accepted(build(), entries)
    if is_allowed:
        outcome.modelled = len(entries)
    else:
        outcome.faults.append(f"the model of the commit protocol says: {said}")


def _kill_and_catch_up(
    plan: Plan, world: World, journal_path: Path, outcome: Outcome, say: Callable[[str], None]
) -> int:
    """Do all the killing under a steady stream of records; returns how many were acknowledged."""
    with ExitStack() as stack:
        journal = stack.enter_context(closing(Journal(journal_path)))
        data = Random(f"{plan.seed}:data")
        producer = Producer(world.stream.sender(data), journal, data, RECORDS_PER_SEC)
        producer.send(FIRST_RECORDS)
        stack.enter_context(producer)
        for watcher in _watchers(world):
            stack.callback(_take_over, watcher, outcome)
            stack.enter_context(watcher)
        resharder: Resharder | None = None
        if world.stream.reshard is not None:
            resharder = stack.enter_context(Resharder(world.stream.reshard, Random(f"{plan.seed}:reshards")))
        campaign = _Campaign(world, outcome, Random(f"{plan.seed}:kills"), say, _turns(plan, resharder))
        stack.callback(campaign.end)
        for point in plan.points:
            campaign.at_point(point)
        campaign.at_random(plan.victims, plan.until)
        if resharder is not None:
            resharder.finish()
            outcome.reshards = resharder.done
        producer.stop()
        outcome.unanswered = producer.settle()
        campaign.catch_up()
        return journal.lines


def _turns(plan: Plan, resharder: Resharder | None) -> Iterator[None]:
    """One step for each kill; lets the stream have its share of the reshards."""
    kills = len(plan.points) + len(plan.victims)
    for number in range(kills):
        if resharder is not None:
            resharder.add(plan.reshards * (number + 1) // kills - plan.reshards * number // kills)
        yield


def _watchers(world: World) -> Iterator[Watcher]:
    """Between two attempts that go different ways several tables may hold a record; one alone never twice."""
    for one in world.script.tables:
        if one.several:
            continue
        if isinstance(world.lane.output, Database):
            yield TableWatcher(world.lane.output, one.table)
        else:
            yield FolderWatcher(world.tables[one.table], whole=one.where == "true")


def _take_over(watcher: Watcher, outcome: Outcome) -> None:
    outcome.looks += watcher.looks
    outcome.faults += watcher.faults


def compare(world: World, lane: Lane, journal: Path, outcome: Outcome) -> None:
    """Note what the tables hold, compared with the journal, and what is left over."""
    attempts = world.attempts()
    last = {one.batch_id: frozenset(one.tables) for one in attempts}
    for one in world.script.tables:
        if isinstance(lane.output, Database):
            by_reader, by_record, held = _in_database(lane.output, journal, one, outcome)
        else:
            by_reader, by_record, held = _in_folders(lane.output.anew().below(one.table), world, journal, one, outcome)
        outcome.by_folder += by_reader
        outcome.by_manifest += by_record
        outcome.faults += [
            f"batch {batch_id} has rows in {table}, to which its last attempt wrote nothing"
            for table, batch_id in held
            if one.several and table not in last[batch_id]
        ]
    outcome.batches = world.done() + 1
    outcome.attempts = len(attempts)
    outcome.leftovers = len(world.unpublished_files())
    if pending := lane.pending_uploads():
        outcome.faults.append(f"{pending} multipart uploads are pending")


# What both kinds of tables hold: by a reader who knows nothing of ours, by what we say of it, and of which batches.
_Held = tuple[Verdict, Verdict, Iterable[tuple[str, int]]]


def _in_folders(table: Folder, world: World, journal: Path, expected: Expected, outcome: Outcome) -> _Held:
    by_folder, by_manifest = check_folder(journal, table, expected), check_manifests(journal, table, expected)
    parents, held = world.stream.parents(), []
    for name, part in parts(table, expected).items():
        outcome.faults += manifests.early_children(part, parents)
        held += [(f"{expected.table}/{name}", one.batch_id) for one in manifests.live(part) if one.data]
    return by_folder, by_manifest, held


def _in_database(database: Database, journal: Path, expected: Expected, outcome: Outcome) -> _Held:
    by_reader, by_record = (
        check_database(journal, database, expected, committed=committed) for committed in (False, True)
    )
    held = []
    for name in database.tables(expected.table, several=expected.several):
        for commit in database.commits(name):
            if commit.rows != commit.held:
                outcome.faults.append(
                    f"batch {commit.batch_id} put {commit.rows} rows into {name}, {commit.held} are there"
                )
            if commit.rows:
                held.append((name, commit.batch_id))
    return by_reader, by_record, held


class _Campaign:
    """The actions of a campaign."""

    def __init__(
        self, world: World, outcome: Outcome, chance: Random, say: Callable[[str], None], turns: Iterator[None]
    ) -> None:
        self._world = world
        self._outcome = outcome
        self._chance = chance
        self._say = say
        self._turns = turns
        self._killed: list[Driver] = []
        self._in_workers = True

    def at_point(self, point: Point) -> None:
        """Start the job with a failpoint armed, bring it there, and look at what it leaves."""
        next(self._turns)
        self._in_workers = self._chance.random() < IN_WORKERS_SHARE
        armed = point.armed(self._chance)
        fired = self._fire(point, armed)
        while not fired and self._may_start_again():
            fired = self._fire(point, armed)
        if fired and point.edit:
            point.edit(self._world)
        seen = fired and point.seen(self._world)
        self._note(Kill(f"{point.number} {point.what}", armed, fired, seen, self._world.planned()))
        if not fired:
            self._fault(f"point {point.number}, {armed}, was not reached, see {self._world.log}")
        elif not seen:
            self._fault(f"point {point.number}, {armed}: the disk does not look like it")

    def _fire(self, point: Point, armed: str) -> bool:
        """Whether the job got there; none of its processes is left."""
        world, fired, done = self._world, self._fired(), self._world.done()
        env = {
            "GLUEPOT_FAILPOINT": armed,
            "GLUEPOT_FAILPOINT_LOG": str(world.fired),
            "GLUEPOT_FAILPOINT_ACTION": "stop" if point.in_worker else "kill",
        }
        if point.stir == "trouble":
            world.trouble.touch()
        driver = self._start(*(["--until-caught-up"] if point.stir == "drain" else []), env=env)
        try:
            if point.stir == "sigterm":
                self._wait_for_batch(driver, done)
                driver.process.send_signal(signal.SIGTERM)
            wait_until(lambda: self._fired() > fired or not driver.runs(), armed, START_SECS)
            if not point.in_worker:
                driver.wait(END_SECS)
        except NotInTime as late:
            self._say(f"{self._outcome.name}: {late}")
        finally:
            driver.kill_all()
        return self._fired() > fired

    def at_random(self, victims: Sequence[Victim], until: float) -> None:
        """Kill one victim after the other at random moments; a worker's death leaves the job running."""
        driver: Driver | None = None
        options = PATIENT if set(victims) == {"worker"} else ()
        for victim in victims:
            if time.monotonic() > until:
                break
            next(self._turns)
            self._in_workers = victim == "worker" or self._chance.random() < IN_WORKERS_SHARE
            if driver is not None and victim == "worker" and not driver.in_workers:
                driver.kill_all()
            if driver is None or not driver.runs():
                done = self._world.done()
                driver = self._start(*options)
                if victim != "worker" and self._chance.random() < STARTING_SHARE:
                    time.sleep(self._chance.uniform(0.0, STARTING_SECS))
                else:
                    self._wait_for_batch(driver, done)
            elif self._chance.random() < NEXT_BATCH_SHARE:
                self._wait_for_batch(driver, self._world.done())
            while not self._kill(driver, victim) and self._may_start_again():
                driver = self._start(*options)
        if driver is not None:
            driver.kill_all()  # it still runs if the last victim was a worker

    def catch_up(self) -> None:
        """Let the job read all there is; it must end by itself, with 0."""
        self.end()
        code = self._run_to_its_end()
        while code != 0 and self._may_start_again():
            code = self._run_to_its_end()
        if code != 0:
            self._fault(f"the last start ended with {code}, see {self._world.log}")
        for line in self._world.unaccounted():
            self._fault(f"the balances of a batch do not hold: {line}")

    def _run_to_its_end(self) -> int | None:
        driver = self._start("--until-caught-up")
        try:
            return driver.wait(CATCH_UP_SECS)
        finally:
            driver.kill_all()

    def _may_start_again(self) -> bool:
        self._outcome.failed_starts += 1
        self._say(f"{self._outcome.name}: a start ended by itself; {self._world.last_error()}")
        if self._outcome.failed_starts > MOST_FAILED_STARTS:
            self._fault(f"{self._outcome.failed_starts} starts ended by themselves, see {self._world.log}")
            return False
        return True

    def end(self) -> None:
        """Wait for the processes that a killed driver left behind."""
        for driver in self._killed:
            for left in driver.outlived():
                self._fault(f"{END_SECS:.0f} s after its driver was killed there still is {left}")
        self._killed.clear()

    def _start(self, *options: str, env: dict[str, str] | None = None) -> Driver:
        self._outcome.starts += 1
        driver = self._world.start(*options, in_workers=self._in_workers, env=env)
        self._killed.append(driver)
        return driver

    def _wait_for_batch(self, driver: Driver, done: int) -> None:
        wait_until(lambda: self._world.done() > done or not driver.runs(), "a batch", START_SECS)

    def _kill(self, driver: Driver, victim: Victim) -> bool:
        """Whether there was somebody to kill before the job ended by itself."""
        time.sleep(self._chance.uniform(0.0, WORKER_AT_WORK_SECS if victim == "worker" else AT_WORK_SECS))
        struck = False

        def struck_or_over() -> bool:
            nonlocal struck
            running = driver.runs()
            struck = running and driver.kill(victim, self._chance)
            return struck or not running

        # There may be no worker or JVM yet, and a worker may end by itself between the look and the blow.
        wait_until(struck_or_over, f"a {victim} to kill", START_SECS)
        if not struck:
            return False
        self._note(Kill(victim, "", fired=True, seen=True, batch_id=self._world.planned()))
        # The driver replaces a JVM that is killed before it was ready.
        if victim == "jvm" and driver.wait(NOTICE_SECS) is None and not driver.jvm():
            self._fault(f"the driver runs on {NOTICE_SECS:.0f} s after its JVM died")
            driver.kill_all()
        if victim in {"group", "driver"}:
            driver.process.wait()
        return True

    def _fired(self) -> int:
        return len(self._world.fired.read_text().splitlines()) if self._world.fired.exists() else 0

    def _note(self, kill: Kill) -> None:
        self._outcome.kills.append(kill)
        self._say(f"{self._outcome.name}: {len(self._outcome.kills):4} {kill.what} {kill.where} batch {kill.batch_id}")

    def _fault(self, text: str) -> None:
        self._outcome.faults.append(text)
        self._say(f"{self._outcome.name}: FAULT {text}")
