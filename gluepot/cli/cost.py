"""`gluepot cost`: what runs of jobs cost on AWS Glue, and the same jobs on a machine of one's own."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from gluepot.cli.numbers import Price
from gluepot.cli.output import Output, Row, show
from gluepot.cli.transfer import loaded
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.core.glue_prices import BILLED_SECS, PRICE_SOURCE, USD_PER_DPU_HOUR, USD_PER_FLEX_DPU_HOUR
from gluepot.core.glue_workers import WORKER_TYPES
from gluepot.service.decisions.costs import COST_DAYS, day_of
from gluepot.service.decisions.costs import by_tag as sums_by_tag

_HOUR_SECS = 3600
_MOST_RUNS = 100  # the newest runs of a job in the ledger that are looked at


@dataclass(frozen=True, slots=True)
class Costs:
    """The runs of a job.

    Args:
        job: name of the job.
        secs: duration of each run on AWS.
        usd: cost of each run on AWS.
        here_secs: duration of each run on one's own machine.
    """

    job: str
    secs: Sequence[float]
    usd: Sequence[float]
    here_secs: Sequence[float]

    def row(self, usd_per_hour: float | None) -> Row:
        """Return the medians of the runs, and how many times as much a run costs on AWS.

        Args:
            usd_per_hour: price of one's own machine; None if it was not given.
        """
        here_secs = median(self.here_secs) if self.here_secs else None
        here = None if here_secs is None or usd_per_hour is None else here_secs * usd_per_hour / _HOUR_SECS
        aws = median(self.usd)
        return {
            "job": self.job,
            "aws_runs": len(self.usd),
            "aws_secs": round(median(self.secs), 1),
            "aws_usd_a_run": round(aws, 4),
            "here_runs": len(self.here_secs),
            "here_secs": None if here_secs is None else round(here_secs, 1),
            "here_usd_a_run": None if here is None else round(here, 4),
            "times_as_much": None if not here else round(aws / here, 1),
        }


def cost(
    *runs: Path,
    here: Path | None = None,
    usd_per_hour: Price = None,
    by_tag: str = "",
    days: Annotated[int, Parameter(validator=Number(gte=1, lte=COST_DAYS))] = 30,
    output: Output = "text",
) -> None:
    """Compare what runs of jobs cost on AWS Glue with the same jobs on a machine of your own, from measured runs.

    With --by-tag, add up what the runs of `gluepot serve` would have cost on AWS Glue, by the value of a tag that their
    jobs had when the runs ended.

    The price of AWS Glue is that of us-east-1. A machine of your own costs its price for as long as a run takes; if it
    is idle between runs and does nothing else, that time costs as much.

    Args:
        runs: files with what `aws glue get-job-runs` printed.
        here: what `aws glue get-job-runs` printed of `gluepot serve`. Without it the ledger tells how long the runs of
            `gluepot run` with job bookmarks took, from job.init to job.commit.
        usd_per_hour: price of your machine.
        by_tag: a tag of jobs, such as team.
        days: for --by-tag: how many days, with today, in UTC.
        output: text for people; json for a list of objects.
    """
    if by_tag:
        if runs or here or usd_per_hour is not None:
            raise ConfigError("--by-tag reads the service's database; leave out files, --here and --usd-per-hour.")
        _show_tags(by_tag, days, output)
        return
    if not runs:
        raise ConfigError("cost needs runs; make a file with `aws glue get-job-runs --job-name NAME > runs.json`.")
    on_aws = by_job(one for path in runs for one in _runs_of(path))
    at_home = {job: list(map(_secs, ended)) for job, ended in by_job(_runs_of(here)).items()} if here else None
    found = [
        Costs(
            job,
            [_secs(one) for one in ended],
            [usd_of(one) for one in ended],
            _of_ledger(job) if at_home is None else at_home.get(job, []),
        )
        for job, ended in on_aws.items()
    ]
    show([one.row(usd_per_hour) for one in found], output, "There are no runs that have ended.")
    if output == "text" and found:
        print(f"\nMedians of all runs. {USD_PER_DPU_HOUR} USD a DPU-hour: {PRICE_SOURCE}.")


def _show_tags(key: str, days: int, output: Output) -> None:
    from gluepot.service.store.database import open_store, store_url  # noqa: PLC0415  SQLAlchemy takes its time to load

    first_day = day_of(round(SystemClock().epoch() * 1000)) - days + 1
    with open_store(store_url(os.environ)).changes() as changes:
        found = changes.costs.since(first_day)
    named = f"tag {key}" if key in {"jobs", "runs", "dpu_hours", "usd"} else key
    rows: list[Row] = [
        {
            named: total.value,
            "jobs": total.jobs,
            "runs": total.runs,
            "dpu_hours": round(total.dpu_hours, 3),
            "usd": round(total.usd, 2),
        }
        for total in sums_by_tag(found, key)
    ]
    show(rows, output, f"No run of the service has ended in the last {days} days.")


def by_job(runs: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the runs that took any time and succeeded, by the name of their job. Pure."""
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for one in runs:
        if one.get("ExecutionTime") and one.get("JobRunState") in {"SUCCEEDED", "STOPPED", None}:
            found[str(one.get("JobName"))].append(one)
    return dict(found)


def usd_of(run: Mapping[str, Any]) -> float:
    """Return what a run costs on AWS: its DPU-seconds, or its workers for as long as it ran, at least a minute."""
    price = USD_PER_FLEX_DPU_HOUR if run.get("ExecutionClass") == "FLEX" else USD_PER_DPU_HOUR
    if run.get("DPUSeconds"):
        return float(run["DPUSeconds"]) * price / _HOUR_SECS
    kind = WORKER_TYPES.get(str(run.get("WorkerType")))
    workers = run.get("NumberOfWorkers")
    dpus = kind.dpus * int(workers) if kind and workers else float(run.get("MaxCapacity") or 0)
    if not dpus:
        raise ConfigError(f"Run {run.get('Id')} of {run.get('JobName')} names neither workers nor MaxCapacity.")
    return dpus * max(_secs(run), BILLED_SECS) * price / _HOUR_SECS


def _secs(run: Mapping[str, Any]) -> float:
    return float(run["ExecutionTime"])


def _runs_of(path: Path) -> list[Mapping[str, Any]]:
    plain = loaded(str(path))
    found = plain.get("JobRuns") if isinstance(plain, dict) else None
    if not isinstance(found, list):
        raise ConfigError(f"{path} has no JobRuns; make it with `aws glue get-job-runs --job-name NAME`.")
    return found


def _of_ledger(job: str) -> list[float]:
    from gluepot.bookmarks.ledger import ledger_url, open_ledger  # noqa: PLC0415  SQLAlchemy takes its time to load

    with closing(open_ledger(ledger_url(os.environ), SystemClock())) as ledger:
        return [
            (one.ended_ms - one.started_ms) / 1000
            for one in ledger.runs(job, _MOST_RUNS)
            if one.status == "committed" and one.ended_ms is not None
        ]
