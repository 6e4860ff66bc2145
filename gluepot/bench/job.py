"""One run of the script: `gluepot run` in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from etlcore.clock import Clock
from etlcore.errors import PermanentError
from gluepot.bench.measured import Measured, Run
from gluepot.bench.plan import BATCHES, WARM_UP_BATCHES
from streaming.advisor.history import Observation
from streaming.advisor.log import recorded

POLL_SECS = 0.25
LOG_LINES = 10


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
        options: Mapping[str, str],
        arguments: Sequence[str],
        folder: Path,
        most_secs: float,
        progress: Callable[[int], None],
    ) -> Measured:
        """Run the script once.

        Args:
            run: with how many cores and which limit.
            options: of its stream.
            arguments: of the script.
            folder: of this run.
            most_secs: it is ended if it takes longer.
            progress: told of the batches that are done, now and then.

        Raises:
            PermanentError: it failed, took too long, or committed too few batches.
        """
        log, advice = folder / "job.log", folder / "advice.jsonl"
        began = self.clock.monotonic()
        with log.open("wb") as output:
            process = subprocess.Popen(
                self._command(run, options, arguments, advice),
                env={**os.environ, "GLUEPOT_STATE": str(folder / "state")},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for us; and all of it can be ended at once
            )
            try:
                while process.poll() is None:
                    if self.clock.monotonic() - began > most_secs:
                        raise PermanentError(f"{_named(run)} took longer than {most_secs:.0f} s; its end:\n{_end(log)}")
                    progress(len(_lines(advice)))
                    self.clock.sleep(POLL_SECS)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        secs = self.clock.monotonic() - began
        batches = [one for history in recorded(_lines(advice)).values() for one in history]
        if process.returncode or len(batches) <= WARM_UP_BATCHES:
            raise PermanentError(
                f"{_named(run)} ended with {process.returncode} after {len(batches)} batches; the end"
                f" of its log:\n{_end(log)}"
            )
        return measured(run, batches, secs)

    def _command(self, run: Run, options: Mapping[str, str], arguments: Sequence[str], advice: Path) -> list[str]:
        connections = ["--connections", str(self.connections)] if self.connections else []
        streams = [token for name, value in options.items() for token in ("--stream-option", f"{name}={value}")]
        return [
            *(sys.executable, "-m", "gluepot", "run", str(self.script), "--master", f"local[{run.cores}]"),
            *("--max-batches", str(WARM_UP_BATCHES + BATCHES), "--advice-log", str(advice)),
            *connections,
            *streams,
            "--",
            *arguments,
        ]


def measured(run: Run, batches: Sequence[Observation], secs: float) -> Measured:
    """Return a run without its warm-up.

    Args:
        run: which.
        batches: all of them, in order.
        secs: that the run took from its begin to its end.
    """
    counted = [replace(one, workers=run.cores, ordered_workers=run.cores) for one in batches[WARM_UP_BATCHES:]]
    return Measured(run, counted, max(0.0, secs - sum(one.secs for one in batches)))


def _named(run: Run) -> str:
    return f"The run with {run.limit_rows:,} rows a batch on {run.cores} cores"


def _lines(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines(keepends=True) if file.exists() else []


def _end(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    told = [line for line in lines if line.startswith("error: ")]
    return "\n".join(told or lines[-LOG_LINES:])
