"""Cuts of real jobs: a stream from Kafka, and a batch job with bookmarks; both with all that lasts on a disk that forgets.

Checkpoint, tables, state folder and ledger lie on it; what Spark and Python need for themselves does not. After a cut all
processes of the job are killed, what has survived is mounted, and the job is started again. A start that is refused must
name a command, which is then run as a person would run it.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.balances import unbalanced
from tests.crash.campaign import compare
from tests.crash.checker import Verdict
from tests.crash.driver import Driver, NotInTime, job_command, wait_until
from tests.crash.journal import Journal
from tests.crash.lanes import Lane, LocalFolder
from tests.crash.outcome import Kill, Outcome
from tests.crash.producer import Producer
from tests.crash.streams import Stream
from tests.crash.world import Script, World
from tests.duck import duck
from tests.power.disk import Mode
from tests.power.machine import Machine, machine
from tests.power.postgres import Postgres, postgres, restart

SCRIPTS = Path(__file__).parents[1] / "e2e" / "scripts"
FIRST_RECORDS = 600
RECORDS_PER_SEC = 10
START_SECS = 300.0
END_SECS = 600.0

STARTING_SHARE = 0.25
"""Of cuts, how many fall into a start; of the others half happen at a random moment, half before a random action."""
STARTING_SECS = 15.0
AT_WORK_SECS = 3.0
MOST_ACTIONS = 400
FILES_AT_ONCE = 3
REMEDY = re.compile(r"run `(gluepot [^`]+)`")
LEASE_SECS = 2


@dataclass
class JobOutcome:
    """What the cuts of one job have shown.

    Args:
        mode: rules of the file system.
        ledger: `sqlite` or `postgresql`.
        crash: all that a kill of the same job would have shown; a cut is one of its kills.
        remedies: commands that refused starts named and that were run.
    """

    mode: Mode
    ledger: str
    crash: Outcome
    remedies: list[str] = field(default_factory=list)

    @property
    def cuts(self) -> int:
        return len(self.crash.kills)

    @property
    def right(self) -> bool:
        return self.crash.right


@dataclass(frozen=True)
class PowerWorld(World):
    """A job's place whose files that last are on a disk that forgets.

    Args:
        disk: where that is mounted.
    """

    disk: Path = Path()

    @property
    def temp(self) -> Path:
        return self.disk / "temp"


class _Cuts:
    """One job, over all of its starts.

    Args:
        mounted: what loses power.
        server: the ledger's, if it is a database whose data lie there too.
        start: starts the job; its first options, if any, are given to it.
        at_work: whether the job has come so far since the given moment that a cut meets it at work.
        tables: what a remedy's TABLE stands for.
    """

    def __init__(
        self,
        mounted: Machine,
        server: Postgres | None,
        start: Callable[..., Driver],
        outcome: JobOutcome,
        chance: Random,
        say: Callable[[str], None],
        tables: Sequence[Path],
    ) -> None:
        self._machine = mounted
        self._server = server
        self._start = start
        self._outcome = outcome
        self._chance = chance
        self._say = say
        self._tables = tables

    def cut(self, at_work: Callable[[], bool], batch_id: Callable[[], int]) -> None:
        """Start the job, cut the power, kill it, and bring what has survived back."""
        begin = self._log_size()
        driver = self._begin()
        what = "start"
        try:
            if self._chance.random() < STARTING_SHARE:
                self._pause(driver, STARTING_SECS)
            else:
                wait_until(lambda: at_work() or not driver.runs(), "the job at work", START_SECS)
                what = self._chance.choice(["moment", "action"])
                if what == "action":
                    self._machine.cut_after(self._chance.randrange(MOST_ACTIONS))
                    wait_until(lambda: self._machine.has_lost_power or not driver.runs(), "a cut", START_SECS)
                else:
                    self._pause(driver, AT_WORK_SECS)
            ended = not self._machine.has_lost_power and driver.wait(0.0)
            self._machine.cut()
        finally:
            driver.strike_all()
            restart(self._machine, self._server, str(self._chance.randrange(10**9)), driver.kill_all)
        self._outcome.crash.kills.append(Kill(what, "", fired=True, seen=True, batch_id=batch_id()))
        self._say(f"{self._outcome.crash.name}: cut {len(self._outcome.crash.kills)}, {what}, batch {batch_id()}")
        if ended:
            self._refused(begin)

    def finish(self, *options: str) -> None:
        """Let the job do all there is to do; it must end by itself, with 0."""
        for _ in range(3):
            begin = self._log_size()
            driver = self._begin(*options)
            try:
                code = driver.wait(END_SECS)
            finally:
                driver.kill_all()
            if code == 0:
                for line in unbalanced(self._log()):
                    self._fault(f"the balances of a batch do not hold: {line}")
                return
            if not self._refused(begin):
                break
        self._fault("the last start did not end with 0")

    def _begin(self, *options: str) -> Driver:
        self._outcome.crash.starts += 1
        return self._start(*options)

    def _pause(self, driver: Driver, secs: float) -> None:
        until = time.monotonic() + self._chance.uniform(0.0, secs)
        while time.monotonic() < until and driver.runs():
            time.sleep(0.02)

    def _refused(self, begin: int) -> bool:
        """Do what the message of a start that ended by itself says; False, and a fault, if it says nothing to do."""
        self._outcome.crash.failed_starts += 1
        log = self._log().read_bytes()[begin:].decode(errors="replace")
        found = REMEDY.search(log)
        if found is None:
            self._fault(f"a start ended by itself and named no remedy: {log[-3000:]}")
            return False
        for table in self._tables:
            command = found[1].replace("TABLE", str(table))
            done = subprocess.run(
                [sys.executable, "-m", *shlex.split(command), "--yes"], capture_output=True, text=True, check=False
            )
            self._outcome.remedies.append(command)
            self._say(f"{self._outcome.crash.name}: {command}: {done.stdout.strip()[:300]}")
            if done.returncode not in {0, 1}:
                self._fault(f"{command} ended with {done.returncode}: {done.stderr[-1000:]}")
            if command == found[1]:
                break
        return True

    def _log(self) -> Path:
        return self._machine.folder.parent / "log"

    def _log_size(self) -> int:
        return self._log().stat().st_size if self._log().exists() else 0

    def _fault(self, text: str) -> None:
        self._outcome.crash.faults.append(text)
        self._say(f"{self._outcome.crash.name}: FAULT {text}")


def cut_stream(
    name: str, mode: Mode, script: Script, seed: str, cuts: int, stream: Stream, folder: Path, until: float,
    say: Callable[[str], None],
) -> JobOutcome:  # fmt: skip
    """Cut a streaming job so many times, under a steady stream of records; then compare its tables with the journal.

    Args:
        name: for reports.
        mode: rules of the file system.
        script: the job.
        seed: of everything.
        cuts: how many.
        stream: empty yet.
        folder: of the campaign, new.
        until: on the monotonic clock; cuts that have not been done by then are left out.
        say: takes lines for whoever looks on.
    """
    outcome, began = JobOutcome(mode, "sqlite", Outcome(name, "local", script.file, seed)), time.monotonic()
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        mounted = stack.enter_context(machine(folder / "disk", mode))
        lane = Lane("local", LocalFolder(mounted.folder / "output"), _env(mounted))
        world = PowerWorld(folder, lane, script, stream, mounted.folder)
        tables = [mounted.folder / "output" / one.table for one in script.tables]
        chance = Random(f"{seed}:cuts")

        def start(*options: str) -> Driver:
            return world.start("--lease-secs", str(LEASE_SECS), *options, in_workers=chance.random() < 0.5)

        campaign = _Cuts(mounted, None, start, outcome, chance, say, tables)
        journal = stack.enter_context(closing(Journal(folder / "journal")))
        data = Random(f"{seed}:data")
        producer = Producer(stream.sender(data), journal, data, RECORDS_PER_SEC)
        producer.send(FIRST_RECORDS)
        try:
            with producer:
                while len(outcome.crash.kills) < cuts and not outcome.crash.faults and time.monotonic() < until:
                    done = world.done()
                    campaign.cut(lambda done=done: world.done() > done, world.planned)
                producer.stop()
                campaign.finish("--until-caught-up")
        except NotInTime as late:
            outcome.crash.faults.append(str(late))
        outcome.crash.records = journal.lines
        compare(world, lane, folder / "journal", outcome.crash)
        _keep_if_wrong(outcome, mounted)
    outcome.crash.secs = time.monotonic() - began
    return outcome


def cut_bookmarks(
    name: str, mode: Mode, ledger: str, seed: str, cuts: int, folder: Path, until: float, say: Callable[[str], None]
) -> JobOutcome:
    """Cut a batch job with bookmarks so many times, which finds new files at each start; then count its rows.

    The arguments are those of `cut_stream`; the ledger is `sqlite` or `postgresql`.
    """
    outcome, began = JobOutcome(mode, ledger, Outcome(name, "bookmarks", "copy_files.py", seed)), time.monotonic()
    source, rows = folder / "in", 0
    source.mkdir(parents=True)
    with machine(folder / "disk", mode) as mounted, ExitStack() as stack:
        server = stack.enter_context(postgres(mounted.folder)) if ledger == "postgresql" else None
        output, chance = mounted.folder / "out", Random(f"{seed}:cuts")

        def start(*options: str) -> Driver:
            nonlocal rows
            for _ in range(chance.randint(1, FILES_AT_ONCE)):
                (source / str(rows)).write_text(f'{{"id": {rows}}}\n{{"id": {rows + 1}}}\n')
                rows += 2
            (folder / "tmp").mkdir(exist_ok=True)
            script = {"JOB_NAME": "copy", "input_path": source, "output_path": output}
            command = job_command(SCRIPTS / "copy_files.py", script, "--lease-secs", str(LEASE_SECS), *options)
            command += ["--job-bookmark-option", "job-bookmark-enable"]
            env = {**_env(mounted), "TMPDIR": str(folder / "tmp")}
            if server is not None:
                env["GLUEPOT_LEDGER"] = server.url
            return Driver.start(command, folder / "cwd", folder / "log", env)

        campaign = _Cuts(mounted, server, start, outcome, chance, say, [output])
        try:
            while len(outcome.crash.kills) < cuts and not outcome.crash.faults and time.monotonic() < until:
                before = mounted.actions
                campaign.cut(lambda before=before: mounted.actions > before + chance.randrange(60), lambda: -1)
            campaign.finish()
        except NotInTime as late:
            outcome.crash.faults.append(str(late))
        outcome.crash.records = rows
        outcome.crash.by_folder = outcome.crash.by_manifest = _counted(output, rows)
        _keep_if_wrong(outcome, mounted)
    outcome.crash.secs = time.monotonic() - began
    return outcome


def _keep_if_wrong(outcome: JobOutcome, mounted: Machine) -> None:
    """Copy what is on the disk to the folder `found` beside it, as the disk itself is gone at the end."""
    if not outcome.right:
        shutil.copytree(mounted.folder, mounted.folder.with_name("found"))


def _counted(output: Path, rows: int) -> Verdict:
    found = duck().execute(f"SELECT id, count(*) FROM read_parquet('{output}/*.parquet') GROUP BY id").fetchall()
    held = dict(found)
    return Verdict(
        sum(held.values()),
        lost=sum(1 for row in range(rows) if row not in held),
        doubled=sum(times - 1 for times in held.values()),
        invented=sum(times for row, times in held.items() if not 0 <= row < rows),
    )


def _env(mounted: Machine) -> Mapping[str, str]:
    return {"GLUEPOT_STATE": str(mounted.folder / "state")}
