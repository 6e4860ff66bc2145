"""Runs of the script: `gluepot run` in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from gluepot.bench.hold import Load
from gluepot.bench.measured import Measured, Run
from gluepot.bench.plan import BATCHES, WARM_UP_BATCHES, is_enough
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.job.options import PROJECT_VARIABLE
from gluepot.produce import Record, Steady, Target, Unpaced, produce
from gluepot.streaming.advisor.history import Observation
from gluepot.streaming.advisor.log import recorded

POLL_SECS = 0.25
LOG_LINES = 10
START_SECS = 120.0
"""Until a job has committed its first batch."""
END_SECS = 60.0
LOOK_EVERY = 1000
"""Records, between two looks whether the job still runs."""


@dataclass(frozen=True, slots=True)
class Started:
    """A job that runs.

    Args:
        what: name of the run, for messages.
        process: process of the job.
        log: what it prints.
        advice: what it tells of each batch.
    """

    what: str
    process: subprocess.Popen[bytes]
    log: Path
    advice: Path

    def batches(self) -> list[Observation]:
        """Return those that were committed."""
        return [one for history in recorded(self.lines()).values() for one in history]

    def lines(self) -> list[bytes]:
        """Return one line for each batch that was committed; the last may not be complete."""
        return self.advice.read_bytes().splitlines(keepends=True) if self.advice.exists() else []

    def failed(self, how: str) -> PermanentError:
        """Return an error that ends with the end of the log."""
        lines = self.log.read_text(errors="replace").splitlines()
        told = [line for line in lines if line.startswith("error: ")]
        end = "\n".join(told or lines[-LOG_LINES:])
        return PermanentError(f"{self.what} {how}; the end of its log:\n{end}")


@dataclass(frozen=True, slots=True)
class Job:
    """The script and how it is started.

    Args:
        script: unchanged.
        connections: connections file for what it reads beside the stream; None for the usual places.
        clock: for waits.
    """

    script: Path
    connections: Path | None
    clock: Clock

    def measure(
        self,
        run: Run,
        batches: int,
        options: Mapping[str, str],
        arguments: Sequence[str],
        folder: Path,
        most_secs: float,
        progress: Callable[[int], None],
    ) -> Measured:
        """Run the script on what is in the topic, without a pause between batches.

        Args:
            run: with how many cores and which limit.
            batches: how many at most; it is ended when ten came after the warm-up, and the last ten count.
            options: options of its stream.
            arguments: arguments of the script.
            folder: folder of this run.
            most_secs: it is ended if it takes longer.
            progress: told of the batches that are done, now and then.

        Raises:
            ConfigError: the script ended without a batch.
            PermanentError: it failed, took too long, or committed too few batches.
        """
        what = f"The run with {run.limit_rows:,} rows a batch on {run.cores} core{'s' * (run.cores != 1)}"
        began = self.clock.monotonic()
        own = ("--max-batches", str(batches))
        with self._started(what, run.cores, own, options, arguments, folder) as job:
            while job.process.poll() is None:
                if self.clock.monotonic() - began > most_secs:
                    raise job.failed(f"took longer than {most_secs:.0f} s")
                batch_secs = [one.secs for one in job.batches()]
                progress(len(batch_secs))
                if is_enough(batch_secs):
                    job.process.send_signal(signal.SIGTERM)
                    self._wait(job, lambda: job.process.poll() is not None, END_SECS, "did not end")
                self.clock.sleep(POLL_SECS)
        secs = self.clock.monotonic() - began
        done = job.batches()
        if not job.process.returncode and not done:
            raise ConfigError(
                f"{what} ended without a batch; `gluepot bench` needs a script that reads a Kafka stream and calls"
                " forEachBatch."
            )
        if job.process.returncode or len(done) <= WARM_UP_BATCHES:
            raise job.failed(f"ended with {job.process.returncode} after {len(done)} batches")
        return measured(run, done, secs)

    def under_load(
        self,
        run: Run,
        window_secs: float,
        options: Mapping[str, str],
        arguments: Sequence[str],
        folder: Path,
        made: Iterator[Record],
        target: Callable[[], Target],
        rate: float,
        secs: float,
    ) -> tuple[Sequence[Observation], Load]:
        """Run the script while records arrive at a rate; return its batches and what was sent.

        Args:
            run: with how many cores and which limit.
            window_secs: `windowSize`.
            options: options of its stream; the topic is empty.
            arguments: arguments of the script.
            folder: folder of this run.
            made: records to send.
            target: opens where to; each counts for itself what it was given.
            rate: records a second.
            secs: for how long, once the job has committed its first batch.

        Raises:
            PermanentError: it failed, or did not read all of it in time.
        """
        own = ("--batch-option", f"windowSize={window_secs:g} seconds")
        with self._started("The steady run", run.cores, own, options, arguments, folder) as job:
            before = produce(made, Unpaced(), target(), self.clock, most=run.cores).acknowledged
            self._wait(job, lambda: bool(job.batches()), START_SECS, "committed no batch")
            began_epoch = self.clock.epoch()
            told = produce(_while_running(made, job), Steady(rate), target(), self.clock, secs=secs)
            load = Load(began_epoch, rate, told.acknowledged, before)
            rows = before + load.sent
            patience_secs = START_SECS + secs
            self._wait(job, lambda: _rows(job.batches()) >= rows, patience_secs, f"did not read all {rows:,} records")
            job.process.send_signal(signal.SIGTERM)
            self._wait(job, lambda: job.process.poll() == 0, END_SECS, "did not end")
        return job.batches(), load

    def _wait(self, job: Started, reached: Callable[[], bool], secs: float, otherwise: str) -> None:
        deadline = self.clock.monotonic() + secs
        while not reached():
            if job.process.poll() is not None:
                raise job.failed(f"ended with {job.process.returncode}")
            if self.clock.monotonic() > deadline:
                raise job.failed(f"{otherwise} within {secs:.0f} s")
            self.clock.sleep(POLL_SECS)

    @contextmanager
    def _started(
        self,
        what: str,
        cores: int,
        own: Sequence[str],
        options: Mapping[str, str],
        arguments: Sequence[str],
        folder: Path,
    ) -> Iterator[Started]:
        """Start the script; whatever of it is left at the end is killed."""
        log, advice = folder / "job.log", folder / "advice.jsonl"
        connections = ["--connections", str(self.connections)] if self.connections else []
        streams = [token for name, value in options.items() for token in ("--stream-option", f"{name}={value}")]
        command = [
            *(sys.executable, "-m", "gluepot", "run", str(self.script), "--master", f"local[{cores}]"),
            *("--advice-log", str(advice)),
            *own,
            *connections,
            *streams,
            "--",
            *arguments,
        ]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                env={**os.environ, "GLUEPOT_STATE": str(folder / "state"), PROJECT_VARIABLE: ""},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for us; and all of it can be ended at once
            )
            try:
                yield Started(what, process, log, advice)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def measured(run: Run, batches: Sequence[Observation], secs: float) -> Measured:
    """Return a run without its warm-up.

    Args:
        run: which.
        batches: all of them, in order.
        secs: that the run took from its begin to its end.
    """
    last = batches[max(WARM_UP_BATCHES, len(batches) - BATCHES) :]
    counted = [replace(one, workers=run.cores, ordered_workers=run.cores) for one in last]
    return Measured(run, counted, max(0.0, secs - sum(one.secs for one in batches)))


def _while_running(made: Iterator[Record], job: Started) -> Iterator[Record]:
    for sent, record in enumerate(made):
        if sent % LOOK_EVERY == 0 and job.process.poll() is not None:
            raise job.failed(f"ended with {job.process.returncode}")
        yield record


def _rows(batches: Sequence[Observation]) -> int:
    return sum(one.rows for one in batches)
