"""`gluepot bench`: preloads a broker, runs the script several times, and reports what it needs."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Literal

import numpy as np

from gluepot.bench.arguments import arguments_of_run, asked_names
from gluepot.bench.conclude import Goal, Settings, fits, scaling, settings_for
from gluepot.bench.hold import Held, held
from gluepot.bench.job import Job
from gluepot.bench.measured import Measured, Run, models
from gluepot.bench.page import as_html
from gluepot.bench.plan import WARM_UP_BATCHES, Bounds, bounds, remaining, within
from gluepot.bench.preload import Preload, stream_options
from gluepot.bench.report import Report, as_json, as_text, on_cores
from gluepot.cli.numbers import Price
from gluepot.connectors.kafka.feed import KafkaFeed
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.core.clock import SystemClock
from gluepot.core.durations import duration_secs
from gluepot.core.errors import ConfigError
from gluepot.produce import demo_payloads, file_payloads, records
from gluepot.servers.kafka import KafkaBroker
from gluepot.servers.topics import create_topic
from gluepot.streaming.advisor.glue_cost import worker_type as worker_type_of

# The most bytes of preloaded records in one partition.
ROOM_BYTES = 512 << 20
# The number of different demo payloads. It is larger than a batch, because repeated values would make large files
# cheaper to write than they are with real records.
UNLIKE_PAYLOADS = 200_000
# A run may take this many times its expected duration, plus one minute.
PATIENCE = 3.0
# The seed of the random numbers behind the confidence intervals, so that equal batches give equal reports.
SEED = 1
# The fewest windows of the steady run; fewer do not show whether the lag grows.
LEAST_WINDOWS = 6
STEADY_TOPIC = "bench-steady"


def bench_script(
    script: Path,
    *arguments: str,
    sla: str | None = None,
    rate: float | None = None,
    cores: int | None = None,
    sample: Path | None = None,
    minutes: float = 10.0,
    hold: str | None = None,
    connections: Path | None = None,
    worker_type: str = "G.1X",
    usd_per_core_hour: Price = None,
    html: Path | None = None,
    output: Literal["text", "json"] = "text",
) -> None:
    """Measure a script and report what it needs; the command line has the rest of the description.

    Args:
        script: the script.
        arguments: the script's arguments, after `--`; {run} in them becomes a folder of the run. JOB_NAME, TempDir and
            places to write to are made up if they are not given.
        sla: age that no record should reach: 10s, 2min. Without it, bench looks for the highest rate.
        rate: records a second that arrive. Without it, the settings are for the load that the measured cores can take.
        cores: most cores to run on; all of this machine unless given.
        sample: file of records to preload, one a line; without it, the demo's click events.
        minutes: a run that would end later than this is not started.
        hold: at the end, run the settings found under a steady load for this long: 5min. It lasts at least six windows
            and does not count towards --minutes.
        connections: the connections file, for sources that the script reads beside the stream.
        worker_type: Glue worker type, for the cost on Glue.
        usd_per_core_hour: price of a core here.
        html: write the report as a page into this file, too.
        output: text for people; json for one object.

    Raises:
        ConfigError: a value is wrong, or the script cannot be read.
        PermanentError: a run failed.
    """
    goal, kind = Goal(_secs("--sla", sla), _rate(rate)), worker_type_of(worker_type)
    hold_secs = _secs("--hold", hold)
    most_cores = (os.cpu_count() or 1) if cores is None else cores
    if most_cores < 1 or minutes <= 0:
        raise ConfigError(f"--cores is {most_cores} and --minutes {minutes:g}; use numbers above 0.")
    payloads = demo_payloads(UNLIKE_PAYLOADS) if sample is None else file_payloads(sample)
    limits = bounds(most_cores, goal.sla_secs, ROOM_BYTES, mean(map(len, payloads)))
    asked = _asked(script)
    arguments_of_run(asked, arguments, Path())  # reports wrong arguments before a broker starts
    clock = SystemClock()
    began = clock.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="gluepot-bench-", ignore_cleanup_errors=True) as temporary,
        KafkaBroker(Path(temporary) / "kafka") as broker,
    ):
        bench = _Bench(Job(script.absolute(), connections, clock), asked, arguments, payloads, broker, Path(temporary))
        done, left_out = bench.measure(limits, began + 60 * minutes)
        found = settings_for(goal, done, np.random.default_rng(SEED))
        steady = bench.hold(found, goal, hold_secs, most_cores) if hold_secs and isinstance(found, Settings) else None
    known = models(done)
    report = Report(
        script=script.name,
        goal=goal,
        fits=fits(done),
        known=known,
        scaling=scaling(known),
        settings=found,
        held=steady,
        kind=kind,
        usd_per_core_hour=usd_per_core_hour,
        left_out=left_out,
        secs=clock.monotonic() - began,
    )
    if html is not None:
        html.write_text(as_html(report))
    print(json.dumps(as_json(report), ensure_ascii=False) if output == "json" else as_text(report))


@dataclass(frozen=True, slots=True)
class _Bench:
    job: Job
    asked: Sequence[str]
    given: Sequence[str]
    payloads: Sequence[bytes]
    broker: KafkaBroker
    folder: Path

    def measure(self, limits: Bounds, deadline: float) -> tuple[list[Measured], int]:
        """Return the runs that were done by the deadline, and the number of runs that were left out."""
        done: list[Measured] = []
        clock = self.job.clock
        preload = Preload(self.broker.bootstrap, limits.cores, self.payloads, clock)
        while plan := remaining(done, limits):
            left_secs = deadline - clock.monotonic()
            kept = within(plan, left_secs) if done else plan
            if not kept:
                _say(f"No more runs: {max(0.0, left_secs):.0f} s are left, the next one needs {plan[0].secs:.0f} s.")
                break
            following = kept[0]
            preload.ensure(following.run, following.most_batches)
            about = (
                f"run {len(done) + 1} of {len(done) + len(kept)}: {following.run.limit_rows:,} rows a batch,"
                f" {on_cores(following.run.cores)}; about {_minutes(sum(one.secs for one in kept))} to go"
            )
            options = preload.options(following.run)
            most_secs = PATIENCE * following.secs + 60
            with self._place(f"run-{len(done)}") as (place, arguments):
                progress = _progress(about, following.batches)
                measured = self.job.measure(
                    following.run, following.most_batches, options, arguments, place, most_secs, progress
                )
            done.append(measured)
            _say(f"{about}: {done[-1].p50_secs:.2f} s at p50, {done[-1].rate:,.0f} rows/s")
        return done, len(plan)

    def hold(self, found: Settings, goal: Goal, secs: float, most_cores: int) -> Held | None:
        """Run the settings found under their load; return None if this machine has too few cores for them."""
        if found.cores > most_cores:
            _say(f"The steady run is left out: it needs {on_cores(found.cores)}, and {most_cores} may be used.")
            return None
        warm_up_secs, secs = WARM_UP_BATCHES * found.window_secs, max(secs, LEAST_WINDOWS * found.window_secs)
        _say(f"steady run: {found.rate:,.0f} rows/s, {on_cores(found.cores)}; {_minutes(warm_up_secs + secs)}")
        run = Run(found.cores, found.limit_rows)
        create_topic(self.broker.bootstrap, STEADY_TOPIC, found.cores)
        options = stream_options(self.broker.bootstrap, STEADY_TOPIC, run)
        there = KafkaReadSettings.from_options({"bootstrap.servers": self.broker.bootstrap, "topicName": STEADY_TOPIC})
        with self._place("steady") as (place, arguments):
            batches, load = self.job.under_load(
                run,
                found.window_secs,
                options,
                arguments,
                place,
                records(self.payloads),
                lambda: KafkaFeed(there, STEADY_TOPIC),
                found.rate,
                warm_up_secs + secs,
            )
        return held(batches, load, found.window_secs, warm_up_secs, goal.sla_secs)

    @contextmanager
    def _place(self, name: str) -> Iterator[tuple[Path, Sequence[str]]]:
        """Give a folder for a run, removed at its end, and the arguments of the script there."""
        place = self.folder / name
        place.mkdir()
        yield place, arguments_of_run(self.asked, self.given, place)
        shutil.rmtree(place, ignore_errors=True)


def _rate(rate: float | None) -> float | None:
    if rate is not None and rate <= 0:
        raise ConfigError(f"--rate is {rate:g}; use a number of records a second above 0.")
    return rate


def _secs(option: str, text: str | None) -> float | None:
    if text is None:
        return None
    secs = duration_secs(text)
    if not secs:
        raise ConfigError(f"{option} is {text!r}; use a time such as 10s, 500ms or 2min.")
    return secs


def _asked(script: Path) -> Sequence[str]:
    if not script.is_file():
        raise ConfigError(f"There is no script {script}; give the path of a Python file.")
    try:
        return asked_names(script.read_text())
    except (SyntaxError, UnicodeDecodeError) as wrong:
        raise ConfigError(f"{script} is not a Python script: {wrong}.") from wrong


def _progress(about: str, expected: int) -> Callable[[int], None]:
    """Return a function that redraws a progress line on a terminal, and does nothing if there is no terminal."""

    def show(batches: int) -> None:
        if sys.stderr.isatty():
            done = "#" * batches + "." * (expected - batches)
            print(f"\r[{done}] {about}", end="", file=sys.stderr, flush=True)

    return show


def _say(line: str) -> None:
    print(f"\r\x1b[K{line}" if sys.stderr.isatty() else line, file=sys.stderr, flush=True)


def _minutes(secs: float) -> str:
    return f"{secs:.0f} s" if secs < 90 else f"{secs / 60:.0f} min"
