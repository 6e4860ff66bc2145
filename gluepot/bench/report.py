"""What `gluepot bench` says: for people with plots in plain text, for programs as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gluepot.bench.conclude import CONFIDENCE, LEAST_RUNS, Between, Fit, Goal, Impossible, Settings
from gluepot.bench.hold import Held
from gluepot.core.glue_prices import PRICE_SOURCE
from gluepot.core.glue_workers import WorkerType
from gluepot.streaming.advisor.glue_cost import glue_cost
from gluepot.streaming.advisor.model import CLOSE, BatchModel

BAR = 40
HOURS_PER_DAY = 24


@dataclass(frozen=True, slots=True)
class Report:
    """All that was found.

    Args:
        script: its name.
        goal: what was asked for.
        fits: the runs, each with what the model makes of it.
        known: the model by number of cores.
        scaling: what a core does beside others, relative to one alone, by number of cores.
        settings: what follows for the goal.
        held: how they did under a steady load; None where that was not run.
        kind: type of the Glue workers.
        usd_per_core_hour: here; None where nobody said.
        left_out: runs that there was no time for.
        secs: that all of it took.
    """

    script: str
    goal: Goal
    fits: Sequence[Fit]
    known: Mapping[int, BatchModel]
    scaling: Mapping[int, float]
    settings: Settings | Impossible
    held: Held | None
    kind: WorkerType
    usd_per_core_hour: float | None
    left_out: int
    secs: float


def as_json(report: Report) -> dict[str, Any]:
    """Return the report for a program."""
    runs = [
        {
            "cores": one.measured.run.cores,
            "limit_rows": one.measured.run.limit_rows,
            "batches": len(one.measured.batches),
            "p50_secs": round(one.measured.p50_secs, 4),
            "rows_per_sec": round(one.measured.rate, 1),
            "model_secs": round(one.secs, 4),
            "model_error": round(one.error, 4),
            "left_out_secs": None if one.left_out_secs is None else round(one.left_out_secs, 4),
        }
        for one in report.fits
    ]
    checked = any(one.is_checked for one in report.fits)
    found = report.settings
    answer: dict[str, Any] = {"impossible": found.sentence} if isinstance(found, Impossible) else asdict(found)
    if isinstance(found, Settings):
        answer["glue"] = {"worker_type": report.kind.name, **asdict(glue_cost(found.cores, report.kind))}
        answer["here_usd_per_day"] = _here(report, found)
        answer["prices"] = PRICE_SOURCE
        answer["patch"] = patch(found)
    return {
        "script": report.script,
        "goal": asdict(report.goal),
        "runs": runs,
        "models": {str(cores): asdict(model) for cores, model in report.known.items()},
        "scaling": {str(cores): round(share, 3) for cores, share in report.scaling.items()},
        "model_is_close": all(one.is_close for one in report.fits if one.is_checked) if checked else None,
        "settings": answer,
        "held": None if report.held is None else report.held.to_json(),
        "left_out_runs": report.left_out,
        "secs": round(report.secs, 1),
    }


def patch(found: Settings) -> dict[str, dict[str, str]]:
    """Return the options to paste, by where they go."""
    return {
        "connection_options": {"maxOffsetsPerTrigger": str(found.limit_rows)},
        "forEachBatch options": {"windowSize": f"{found.window_secs:g} seconds"},
    }


def as_text(report: Report) -> str:
    """Return the report for a person."""
    planned = f" of {len(report.fits) + report.left_out}" if report.left_out else ""
    lines = [f"{report.script}: {len(report.fits)}{planned} runs in {report.secs / 60:.1f} min", ""]
    lines += _runs(report.fits)
    lines += ["", *fit_lines(report)]
    if report.left_out:
        lines.append(f"  {report.left_out} more runs were planned and left out: the time was over.")
    match report.settings:
        case Impossible(sentence):
            lines += ["", sentence]
        case Settings() as found:
            lines += ["", *answer_lines(report, found), "", "To paste:"]
            lines += [
                f'  {place}: "{name}": "{value}",'
                for place, options in patch(found).items()
                for name, value in options.items()
            ]
    if report.held is not None:
        lines += ["", *held_lines(report.held)]
    return "\n".join(lines)


def on_cores(cores: int) -> str:
    """Return the number with its noun."""
    return "1 core" if cores == 1 else f"{cores} cores"


def _runs(fits: Sequence[Fit]) -> list[str]:
    lines = ["  cores  rows a batch   p50 s   model  error    rows/s"]
    longest = max(one.measured.p50_secs for one in fits)
    for one in fits:
        run, secs = one.measured.run, one.measured.p50_secs
        bar = "█" * max(1, round(BAR * secs / longest))
        lines.append(
            f"  {run.cores:5} {run.limit_rows:13,} {secs:7.2f} {one.secs:7.2f} {one.error:+6.0%}"
            f" {one.measured.rate:9,.0f}  {bar}"
        )
    return lines


def fit_lines(report: Report) -> list[str]:
    """Return what was learned and how near it is."""
    lines = [
        f"  {on_cores(cores)}: {model.fixed_secs:.2f} s of every batch are fixed, then a core does"
        f" {model.worker_rate:,.0f} rows/s ({report.scaling[cores]:.0%} of one alone)"
        for cores, model in report.known.items()
    ]
    checked = [one for one in report.fits if one.is_checked]
    if checked:
        worst = max(checked, key=lambda one: abs(one.error))
        verdict = "every run is" if all(one.is_close for one in checked) else "NOT every run is"
        lines.append(f"  fit check: {verdict} predicted within {CLOSE:.0%} at p50; the worst by {worst.error:+.0%}")
    few = sorted({one.measured.run.cores for one in report.fits if not one.is_checked})
    lines += [f"  {on_cores(cores)}: not checked; that takes {LEAST_RUNS} runs. Give --minutes more." for cores in few]
    unseen = [one.left_out_secs / one.measured.p50_secs - 1 for one in report.fits if one.left_out_secs is not None]
    if unseen:
        lines.append(f"  a run that the model had not seen is predicted with at worst {max(unseen, key=abs):+.0%}")
    return lines


def answer_lines(report: Report, found: Settings) -> list[str]:
    """Return the settings, what they lead to and what they cost."""
    glue = glue_cost(found.cores, report.kind)
    most = on_cores(max(report.known))
    known = "measured" if found.measured else f"not measured: in a straight line from {most}"
    wanted = "" if report.goal.sla_secs is None else f" within {report.goal.sla_secs:g} s"
    how = "no interval" if found.p99.high is None else f"{CONFIDENCE:.0%} interval"
    latency = f"latency p50 {_between(found.p50)}, p99 {_between(found.p99)} ({how})"
    lines = [
        f"For {found.rate:,.0f} rows/s{wanted}: {on_cores(found.cores)} ({known}), as many partitions or more,",
        f"  windowSize {found.window_secs:g} s, maxOffsetsPerTrigger {found.limit_rows:,}",
        f"  a batch takes {found.batch_secs:.1f} s; {latency}",
    ]
    lines += [f"  not measured: {clause}" for clause in found.not_measured]
    if found.keeps_sla is False or (report.goal.sla_secs is not None and found.p99.high is None):
        lines.append(
            f"  p99 may be above the SLA of {report.goal.sla_secs:g} s: run it at this rate before you rely on it."
        )
    lines.append(
        f"  on Glue: {glue.workers} {report.kind.name}, one of them the driver, {glue.usd_per_day:.2f} USD a day"
    )
    here = _here(report, found)
    if here is not None:
        lines.append(f"  here: {on_cores(found.cores)}, {here:.2f} USD a day")
    lines.append(f"  prices: {PRICE_SOURCE}")
    return lines


def held_lines(one: Held) -> list[str]:
    """Return how the settings did under a steady load."""
    within = "" if one.sla_secs is None else f", the SLA is {one.sla_secs:g} s"
    lag = "grew" if one.lag_grows else "stood still"
    return [
        f"Run at {one.rate:,.0f} rows/s for {one.secs:.0f} s: {'it holds' if one.holds else 'it does NOT hold'}.",
        f"  latency p50 {one.p50_secs:.1f} s, p99 {one.p99_secs:.1f} s, worst {one.worst_secs:.1f} s{within}",
        f"  the lag {lag}: {one.first_waiting:,} records behind early batches, {one.last_waiting:,} behind late ones",
    ]


def _between(one: Between) -> str:
    if one.low is None or one.high is None:
        return f"about {one.value:.1f} s"
    return f"{one.value:.1f} s ({one.low:.1f} to {one.high:.1f})"


def _here(report: Report, found: Settings) -> float | None:
    price = report.usd_per_core_hour
    return None if price is None else round(price * found.cores * HOURS_PER_DAY, 2)
