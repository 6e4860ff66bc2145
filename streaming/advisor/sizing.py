"""The rule that computes the number of workers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gluepot.streaming.advisor.forecast import Forecast
from gluepot.streaming.advisor.history import Observation
from gluepot.streaming.advisor.model import BatchModel
from gluepot.streaming.advisor.settings import AdvisorSettings

# Up to this share more workers are advised if each then has the same number of partitions.
EVEN_WITHIN = 0.2


@dataclass(frozen=True, slots=True)
class Sizing:
    """The result of the rule.

    Args:
        workers: the number of workers to have.
        needed: the number that the load alone needs, before bounds, partitions and the dead band are applied.
        fewest: the number that the forecast's maximum needs; fewer are never advised.
        cap: the most workers that the partitions can keep busy, or None.
        excess_rows: waiting rows beyond those that arrive in one window.
    """

    workers: int
    needed: int
    fewest: int
    cap: int | None
    excess_rows: float


def window_is_too_short(model: BatchModel, window_secs: float, target_use: float) -> bool:
    """Tell whether the fixed cost alone takes as much of the window as a batch may; then workers do not help."""
    return window_secs > 0 and model.fixed_secs / window_secs >= target_use


def size(last: Observation, model: BatchModel, load: Forecast, settings: AdvisorSettings, partitions: int) -> Sizing:
    """Return the number of workers, `n* = ceil((lam + L/C + D/C) / (mu * (rho - F/W)))`; small changes are not made.

    `L` is the number of rows that wait beyond one window of arrivals. `D` is the number of rows that pile up while a
    new worker starts. Flink, from which this formula comes, stops meanwhile, so there it is `lam * R`. Spark continues,
    so here it is only what the present workers do not manage.

    Args:
        last: the newest batch; its window is not 0 and not too short.
        model: model of the batch time.
        load: arrival rates.
        settings: goals and bounds.
        partitions: partitions of the topic or stream; 0 if unknown.
    """
    window = last.window_secs
    rho = settings.use_of(window)
    per_worker = model.worker_rate * (rho - model.fixed_secs / window)
    excess = max(0.0, last.waiting - load.now * window)
    present = last.workers * model.worker_rate * max(0.0, 1.0 - model.fixed_secs / window)
    piling_up = max(0.0, load.ahead - present) * settings.worker_start_secs
    catching_up = (excess + piling_up) / settings.catch_up_secs
    rate = max(load.ahead, load.now) + catching_up
    needed = max(1, math.ceil(rate / per_worker))
    fewest = max(1, math.ceil((load.highest + catching_up) / per_worker))
    unlimited = not partitions or last.divisible or settings.repartitions
    cap = None if unlimited else math.ceil(partitions / settings.slots_per_worker)

    ordered = last.ordered_workers
    wanted = ordered
    if rate > ordered * per_worker * (1.0 + settings.dead_band):
        wanted = needed
    elif fewest < ordered and load.highest + catching_up < (ordered - 1) * per_worker * (1.0 - settings.dead_band):
        wanted = fewest
    if cap and wanted != ordered:
        wanted = _evenly(wanted, partitions, settings)
    upper = min(settings.max_workers, cap) if cap else settings.max_workers
    return Sizing(max(settings.min_workers, min(wanted, upper)), needed, fewest, cap, excess)


def _evenly(workers: int, partitions: int, settings: AdvisorSettings) -> int:
    """Return the number of workers, or a few more if then every slot has one round of tasks less.

    If every partition is one task, 16 partitions take two rounds on 15 slots, as on 8 slots, but one round on 16.
    """
    slots = settings.slots_per_worker
    rounds = math.ceil(partitions / (workers * slots))
    if rounds > 1:
        fewer_rounds = math.ceil(partitions / ((rounds - 1) * slots))
        if fewer_rounds <= workers * (1.0 + EVEN_WITHIN):
            return fewer_rounds
    return workers
