"""Finds what limits a stream in ways that more workers would not help, and recommends better settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from gluepot.streaming.advisor.advice import Limit, Measure, Recommendation
from gluepot.streaming.advisor.digits import rate, seconds
from gluepot.streaming.advisor.forecast import Forecast
from gluepot.streaming.advisor.history import Observation
from gluepot.streaming.advisor.model import BatchModel
from gluepot.streaming.advisor.settings import AdvisorSettings
from gluepot.streaming.advisor.sizing import Sizing, window_is_too_short

# The number of recent batches in which a cause is looked for.
LATELY = 10
# The share of task time above which throttling counts as a cause. Below it, the waits hide behind other work.
THROTTLED_SHARE = 0.1
# A stream counts as skewed if one partition has at least this share of the backlog ...
SKEWED_SHARE = 0.5
# ... and also this many times its even share, so that a stream with two or three partitions is not called skewed.
SKEWED_TIMES = 3.0
# Files below this share of the target size are small.
SMALL_FILE = 0.25
# The round numbers to which a recommended window is rounded.
ROUND_SECS = (1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 100, 120, 180, 240, 300, 600, 900, 1200, 1800, 3600)
LIMIT_HIT_SHARE = 0.98
# A stream that uses less than this share of one worker can share the worker with others.
IDLE_USE = 0.15
# A batch limit may be this many times the number of rows that fit. Above that, a full batch misses its window by as
# much.
LIMIT_HEADROOM = 2.0


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that causes are judged by. The history is not empty."""

    history: Sequence[Observation]
    model: BatchModel
    load: Forecast
    settings: AdvisorSettings

    @property
    def last(self) -> Observation:
        """The newest batch."""
        return self.history[-1]

    @property
    def lately(self) -> Sequence[Observation]:
        """The last ten batches."""
        return self.history[-LATELY:]

    @property
    def partitions(self) -> int:
        """The number of partitions or shards; 0 if the source does not tell."""
        return len(self.last.waiting_rows)

    @property
    def falls_behind(self) -> bool:
        """Whether more rows wait than arrive in one window, and more than waited ten batches ago."""
        return self.last.waiting > max(
            self.lately[0].waiting, self.load.now * max(self.last.window_secs, self.last.secs)
        )


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason why more workers do not help."""

    limit: Limit
    sentence: str
    recommendations: Sequence[Recommendation]


def throttling(now: Situation) -> Cause | None:
    """Recognise a source that throttles the tasks, so that more tasks would not read more."""
    waited, worked = sum(one.throttled_secs for one in now.lately), sum(one.task_secs for one in now.lately)
    if not worked or waited < THROTTLED_SHARE * worked:
        return None
    share = waited / worked
    sentence = (
        f"In {len(now.lately)} batches tasks waited {seconds(waited)} of {seconds(worked)} ({share:.0%}) because the "
        f"source throttled them; more workers would wait as well."
    )
    more = math.ceil(now.partitions / (1 - share)) if now.partitions and share < 1 else None
    to_how_many = f"at least {more} shards instead of {now.partitions}" if more else "more shards"
    advice = f"{sentence} Give the stream {to_how_many}, enhanced fan-out, or fewer other readers."
    return Cause(Limit.THROTTLING, sentence, [Recommendation(Measure.SOURCE, advice, more, now.partitions or None)])


def skew(now: Situation) -> Cause | None:
    """Recognise one partition that has most of the backlog, now and in most of the last batches."""
    behind = [one for one in now.lately if _skewed(one)]
    if now.last.divisible or not now.falls_behind or not _skewed(now.last) or 2 * len(behind) <= len(now.lately):
        return None
    shard = max(now.last.waiting_rows, key=now.last.waiting_rows.__getitem__)
    rows, waiting = now.last.waiting_rows[shard], now.last.waiting
    sentence = (
        f"{shard} holds {rows:,} of the {waiting:,} rows that wait ({rows / waiting:.0%}), "
        f"{now.partitions} partitions share the rest; one task reads a partition, so more workers do not help."
    )
    keys = Recommendation(Measure.KEYS, f"{sentence} Spread its keys over the partitions in the producer.")
    spread = now.last.ordered_workers * now.settings.slots_per_worker
    inside = Recommendation(
        Measure.REPARTITION,
        f"If the work, not the reading of {shard}, takes the time, call repartition({spread}) in the batch function.",
        spread,
    )
    return Cause(Limit.SKEW, sentence, [keys] if now.settings.repartitions else [keys, inside])


def _skewed(one: Observation) -> bool:
    waiting, partitions = one.waiting, len(one.waiting_rows)
    if partitions < 2 or not waiting:
        return False
    share = max(one.waiting_rows.values()) / waiting
    return share > SKEWED_SHARE and share * partitions >= min(SKEWED_TIMES, 0.8 * partitions)


def window(now: Situation) -> Cause | None:
    """Recognise a window that is too short even for the fixed cost of a batch."""
    last, model, settings = now.last, now.model, now.settings
    use = settings.use_of(last.window_secs)
    if not window_is_too_short(model, last.window_secs, use):
        return None
    wanted = _round_window(2 * model.fixed_secs / use)
    sentence = (
        f"{seconds(model.fixed_secs)} of every batch are fixed cost, {model.fixed_secs / last.window_secs:.0%} of the "
        f"{last.window_secs:g} s window; workers do not shorten that."
    )
    advice = f"{sentence} A windowSize of {wanted:g} s leaves half of it for rows."
    if settings.sla_secs and wanted > settings.sla_secs / 2:
        advice += f" That is more than half of the SLA of {settings.sla_secs:g} s: make the batch function cheaper."
    return Cause(Limit.WINDOW, sentence, [Recommendation(Measure.WINDOW, advice, wanted, last.window_secs)])


def partitions_short(now: Situation, sizing: Sizing | None) -> Cause | None:
    """Recognise a load that needs more tasks at a time than the topic has partitions."""
    if sizing is None or sizing.cap is None or sizing.needed <= sizing.cap:
        return None
    slots = sizing.needed * now.settings.slots_per_worker
    sentence = (
        f"{rate(now.load.ahead)} need {sizing.needed} workers ({slots} tasks at a time), "
        f"but {now.partitions} partitions keep only {sizing.cap} busy."
    )
    measures = [
        Recommendation(
            Measure.PARTITIONS, f"{sentence} Give the topic {slots} partitions or more.", slots, now.partitions
        ),
        Recommendation(
            Measure.REPARTITION,
            f"Where the topic is not yours, call repartition({slots}) in the batch function; it costs a shuffle.",
            slots,
        ),
    ]
    return Cause(Limit.PARTITIONS, sentence, measures)


def splitting(now: Situation, sizing: Sizing | None) -> list[Recommendation]:
    """Recognise a load that needs more workers than one job may have."""
    most = now.settings.max_workers
    if sizing is None or sizing.needed <= most or now.partitions < 2:
        return []
    jobs = min(now.partitions, math.ceil(sizing.needed / most))
    sentence = (
        f"The load needs {sizing.needed} workers and one job may have {most}; {jobs} jobs, each with `assign` for "
        f"{math.ceil(now.partitions / jobs)} of the {now.partitions} partitions, have enough together."
    )
    return [Recommendation(Measure.SPLIT, sentence, jobs, 1)]


def batch_limit(now: Situation, workers: int) -> list[Recommendation]:
    """Recommend `maxOffsetsPerTrigger`: the rows that fit into the window, and into half of the SLA if there is one."""
    last, settings, present = now.last, now.settings, now.settings.batch_limit_rows
    if not last.window_secs:
        return []
    allowed, window_secs = settings.use_of(last.window_secs) * last.window_secs, last.window_secs
    if settings.sla_secs:
        allowed, window_secs = min(allowed, settings.sla_secs / 2), min(window_secs, settings.sla_secs / 2)
    rows = now.model.rows_within(allowed, workers)
    if rows < max(1, now.load.now * window_secs):  # more arrive, so that such a limit leaves the stream behind
        return []
    wanted = int(float(f"{rows:.2g}"))  # two digits are all that the model is good for
    fits = f"{wanted:,} rows take {workers} workers {seconds(now.model.batch_secs(wanted, workers))}"
    if present is None:
        why = f"Without a limit a backlog becomes one batch that may take for ever; {fits}."
    elif present > LIMIT_HEADROOM * rows:
        why = f"A full batch of {present:,} rows would take {seconds(now.model.batch_secs(present, workers))}; {fits}."
    elif _hits_limit(now, present) and wanted > present:
        why = f"The limit of {present:,} rows is hit batch after batch and {last.waiting:,} rows wait; {fits}."
    else:
        return []
    return [Recommendation(Measure.BATCH_LIMIT, why, wanted, present)]


def _hits_limit(now: Situation, limit: int) -> bool:
    return now.falls_behind and median(one.rows for one in now.lately) >= LIMIT_HIT_SHARE * limit


def file_size(now: Situation) -> list[Recommendation]:
    """If files come out small, recommend a window that would bring them to the target size."""
    files, size_bytes = sum(one.files for one in now.lately), sum(one.bytes_out for one in now.lately)
    target, window_secs = now.settings.target_file_bytes, now.last.window_secs
    if not files or not size_bytes or not window_secs or size_bytes / files >= SMALL_FILE * target:
        return []
    mean = size_bytes / files
    wanted = _round_window(window_secs * target / mean)
    if now.settings.sla_secs:
        wanted = min(wanted, now.settings.sla_secs / 2)
    if wanted <= window_secs:
        return []
    then = mean * wanted / window_secs
    sentence = (
        f"Files have {mean / 1e6:.1f} MB on average where {target / 1e6:.0f} MB were wanted; "
        f"a windowSize of {wanted:g} s would make them about {then / 1e6:.0f} MB."
    )
    return [Recommendation(Measure.WINDOW, sentence, wanted, window_secs)]


def merging(now: Situation, workers: int) -> list[Recommendation]:
    """Recognise a stream that is too small for a worker of its own."""
    window_secs = now.last.window_secs
    if workers > 1 or not window_secs:
        return []
    use = now.model.batch_secs(now.load.highest * window_secs, 1) / window_secs
    if use >= IDLE_USE:
        return []
    sharing = int(now.settings.use_of(window_secs) / use)
    why = f"One worker is busy {use:.0%} of the time; {sharing} streams like this one fit on it."
    return [
        Recommendation(Measure.MERGE, f"{why} Read several topics in one job, or run one query per thread.", sharing, 1)
    ]


def _round_window(secs: float) -> float:
    return next((float(one) for one in ROUND_SECS if one >= secs), float(ROUND_SECS[-1]))
