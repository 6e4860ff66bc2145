"""Reads an advice log and prints what its queries need now, or what the advisor would have advised batch by batch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from gluepot.cli.output import Output, Row, show, time_of
from gluepot.core.errors import ConfigError
from gluepot.core.glue_prices import PRICE_SOURCE
from gluepot.core.glue_workers import WorkerType
from gluepot.streaming.advisor import Advice, AdvisorSettings, Observation, advise
from gluepot.streaming.advisor.advise import RECENT_BATCHES
from gluepot.streaming.advisor.digits import seconds
from gluepot.streaming.advisor.glue_cost import glue_cost, worker_type
from gluepot.streaming.advisor.log import recorded


@dataclass(frozen=True, slots=True)
class Costs:
    """What a number of workers costs, on Glue and on one's own machines.

    Args:
        kind: type of the Glue worker to compare with.
        slots_per_worker: tasks that one of our own workers runs at a time.
        usd_per_worker_hour: price of one of our own workers; None if it was not given.
    """

    kind: WorkerType
    slots_per_worker: int
    usd_per_worker_hour: float | None

    def row(self, workers: int) -> Row:
        """Return what this number of workers costs a day, on Glue and here."""
        glue = glue_cost(workers * self.slots_per_worker, self.kind)
        here = None if self.usd_per_worker_hour is None else round(workers * self.usd_per_worker_hour * 24, 2)
        return {"glue_workers": glue.workers, "glue_usd_per_day": round(glue.usd_per_day, 2), "here_usd_per_day": here}


def advise_from(
    log: Path,
    settings: AdvisorSettings,
    *,
    glue_type: str,
    usd_per_worker_hour: float | None,
    replay: bool,
    output: Output,
) -> None:
    """Print the advice for every query of an advice log.

    Args:
        log: file that `gluepot run --advice-log` wrote.
        settings: goals and bounds.
        glue_type: type of the Glue worker to compare with.
        usd_per_worker_hour: price of a worker here.
        replay: advise after every recorded batch, and show only where the wanted number of workers changes.
        output: text or json.

    Raises:
        ConfigError: the file does not exist, is empty or is not an advice log.
    """
    if not log.is_file():
        raise ConfigError(f"There is no advice log {log}; `gluepot run --advice-log {log}` writes one.")
    with log.open("rb") as lines:
        histories = recorded(lines)
    if not histories:
        raise ConfigError(f"{log} contains no finished batch yet; try again when the job has finished one.")
    costs = Costs(worker_type(glue_type), settings.slots_per_worker, usd_per_worker_hour)
    if replay:
        rows = [row for query, history in histories.items() for row in replayed(query, history, settings)]
        show(rows, output, "The number of workers would not have changed.")
        return
    found = {query: advise(history, settings) for query, history in histories.items()}
    if output == "json":
        print(json.dumps([as_json(query, advice, costs) for query, advice in found.items()], ensure_ascii=False))
    else:
        print("\n\n".join(as_text(query, advice, costs) for query, advice in found.items()))


def replayed(query: str, history: Sequence[Observation], settings: AdvisorSettings) -> list[Row]:
    """Return a row for each batch after which the wanted number of workers differs from that after the batch before.

    The batches are taken as recorded, with the workers that ran them. This does not simulate how they would have gone
    with another number of workers.
    """
    advices = [advise(history[max(0, upto - RECENT_BATCHES) : upto], settings) for upto in range(1, len(history) + 1)]
    return [
        {
            "query": query,
            "at": time_of(int(after.epoch * 1000)),
            "workers": after.workers,
            "wanted": after.wanted_workers,
            "limit": after.limit.value,
            "reason": after.reason,
        }
        for before, after in pairwise(advices)
        if after.wanted_workers != before.wanted_workers
    ]


def as_json(query: str, advice: Advice, costs: Costs) -> dict[str, Any]:
    """Return the advice for a program."""
    now, then = costs.row(advice.workers), costs.row(advice.wanted_workers)
    return {"query": query, **advice.to_json(), "cost": {"now": now, "wanted": then, "prices": PRICE_SOURCE}}


def as_text(query: str, advice: Advice, costs: Costs) -> str:
    """Return the advice for a person."""
    change = (
        f"{advice.workers} -> {advice.wanted_workers}" if advice.changes_workers else f"{advice.workers}, unchanged"
    )
    lines = [
        f"{query}: workers {change}; limited by {advice.limit.value}; confidence {advice.confidence:.0%}",
        f"  {advice.reason}",
    ]
    if advice.batch_secs is not None:
        late = advice.catch_up_secs
        catch_up = "does not catch up" if late is None else f"caught up in {seconds(late)}"
        lines.append(f"  expected: batches of {seconds(advice.batch_secs)}, {catch_up}")
    lines += [
        f"  {one.measure.value}: {one.sentence}" for one in advice.recommendations if one.sentence != advice.reason
    ]
    lines += [f"  {rule}: {'yes' if holds else 'no'}" for rule, holds in advice.rules_of_thumb.items()]
    for name, workers in (("now", advice.workers), ("wanted", advice.wanted_workers)):
        cost = costs.row(workers)
        here = "" if cost["here_usd_per_day"] is None else f", here {cost['here_usd_per_day']:.2f} USD"
        glue = f"{cost['glue_workers']} {costs.kind.name} on Glue {cost['glue_usd_per_day']:.2f} USD"
        lines.append(f"  {name}, a day: {glue}{here}")
    return "\n".join([*lines, f"  prices: {PRICE_SOURCE}"])
