"""Makes the advice after a batch from the model, the forecast, the sizing rule and the causes."""

from __future__ import annotations

from collections.abc import Sequence

from gluepot.streaming.advisor.advice import Advice, Limit, Measure, Recommendation
from gluepot.streaming.advisor.causes import (
    Situation,
    batch_limit,
    file_size,
    merging,
    partitions_short,
    skew,
    splitting,
    throttling,
    window,
)
from gluepot.streaming.advisor.digits import rate, seconds
from gluepot.streaming.advisor.forecast import forecast
from gluepot.streaming.advisor.history import Observation, settled
from gluepot.streaming.advisor.model import fit
from gluepot.streaming.advisor.settings import AdvisorSettings
from gluepot.streaming.advisor.sizing import Sizing, size, window_is_too_short

# The most batches that are looked at: two hours with one batch a minute.
RECENT_BATCHES = 120
# With fewer settled batches than this, the advisor says nothing about workers.
FEWEST_BATCHES = 3
HOURS_PER_DAY = 24
# The rule of Glue's guide: batch time below 70 % of the window, and below half of the SLA.
GLUE_WINDOW_SHARE = 0.7


def advise(history: Sequence[Observation], settings: AdvisorSettings) -> Advice:
    """Advise how many workers a query needs, why, and what else would help. Has no effects and reads no clock.

    Args:
        history: batches that finished, oldest first; at least one.
        settings: goals and bounds.
    """
    recent = history[-RECENT_BATCHES:]
    last = recent[-1]
    usable = settled(recent, settings.warm_up_batches)
    known = fit(usable if len(usable) >= FEWEST_BATCHES else recent)
    load = forecast(recent, settings.worker_start_secs + last.window_secs, settings.hold_secs)
    if known is None or load is None or len(recent) < FEWEST_BATCHES:
        reason = f"{len(recent)} batches are too few to learn from; {FEWEST_BATCHES} with rows are needed."
        return Advice(last.ended_epoch, last.ordered_workers, last.ordered_workers, Limit.UNKNOWN, reason)
    return _advice(Situation(recent, known, load, settings))


def _advice(now: Situation) -> Advice:
    last, known, load = now.last, now.model, now.load
    sizing = _sizing(now)
    wanted = last.ordered_workers if sizing is None else sizing.workers
    causes = [throttling(now), skew(now), window(now), partitions_short(now, sizing)]
    found = next((one for one in causes if one is not None), None)
    if found and found.limit is not Limit.PARTITIONS:
        wanted = min(wanted, last.ordered_workers)  # more workers would be limited by the same cause
    limit, reason = (found.limit, found.sentence) if found else _about_workers(now, wanted)
    others = [
        *(found.recommendations if found else ()),
        *splitting(now, sizing),
        *batch_limit(now, wanted),
        *file_size(now),
        *merging(now, wanted),
    ]
    change = [Recommendation(Measure.WORKERS, reason, wanted, last.ordered_workers)]
    rows = load.ahead * last.window_secs
    return Advice(
        epoch=last.ended_epoch,
        workers=last.ordered_workers,
        wanted_workers=wanted,
        limit=limit,
        reason=reason,
        batch_secs=known.batch_secs(rows, wanted),
        catch_up_secs=_catch_up_secs(now, wanted, sizing),
        confidence=known.confidence,
        worker_hours_per_day=float((wanted - last.ordered_workers) * HOURS_PER_DAY),
        fixed_secs=known.fixed_secs,
        worker_rate=known.worker_rate,
        input_rate=load.now,
        rules_of_thumb=_rules_of_thumb(now),
        recommendations=[*(change if wanted != last.ordered_workers else ()), *others],
    )


def _sizing(now: Situation) -> Sizing | None:
    """Return the result of the sizing rule; None if there is no window, or none that any number of workers can keep."""
    last = now.last
    if not last.window_secs or window_is_too_short(now.model, last.window_secs, now.settings.use_of(last.window_secs)):
        return None
    return size(last, now.model, now.load, now.settings, now.partitions)


def _about_workers(now: Situation, wanted: int) -> tuple[Limit, str]:
    last, load, known = now.last, now.load, now.model
    if not last.window_secs:
        return (
            Limit.NOTHING,
            "The query has no window, so each batch starts when the last one ends; nothing to size for.",
        )
    window_rows = load.ahead * last.window_secs
    at_present, then = (known.batch_secs(window_rows, n) for n in (last.ordered_workers, wanted))
    facts = (
        f"{rate(load.ahead)} are expected and one worker does {rate(known.worker_rate)} after "
        f"{seconds(known.fixed_secs)} of fixed cost"
    )
    if wanted > last.ordered_workers:
        return Limit.WORKERS, (
            f"{facts}: a batch would take {seconds(at_present)} of the {last.window_secs:g} s window with "
            f"{last.ordered_workers} workers and {seconds(then)} with {wanted}; {last.waiting:,} rows wait."
        )
    if wanted < last.ordered_workers:
        return Limit.NOTHING, (
            f"{facts}: {wanted} workers take {seconds(then)} of the {last.window_secs:g} s window, also at the highest "
            f"rate of the last {seconds(now.settings.hold_secs)}, {rate(load.highest)}."
        )
    return Limit.NOTHING, (
        f"{facts}: a batch takes {seconds(at_present)} of the {last.window_secs:g} s window with {wanted} workers; "
        "keep them."
    )


def _catch_up_secs(now: Situation, workers: int, sizing: Sizing | None) -> float | None:
    if sizing is None:
        return None
    if not sizing.excess_rows:
        return 0.0
    window_secs = now.last.window_secs
    spare = now.model.rows_within(window_secs, workers) / window_secs - now.load.now
    return sizing.excess_rows / spare if spare > 0 else None


def _rules_of_thumb(now: Situation) -> dict[str, bool]:
    last, sla = now.last, now.settings.sla_secs
    rules = {}
    if last.window_secs:
        rules["batch below 70 % of the window"] = last.secs < GLUE_WINDOW_SHARE * last.window_secs
    if sla:
        rules["batch below half of the SLA"] = last.secs < sla / 2
        rules["window at most half of the SLA"] = last.window_secs <= sla / 2
    return rules
