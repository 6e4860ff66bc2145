"""What the runs of jobs would have cost on AWS Glue: a sum for each day and job, and sums by the values of a tag. Pure.

As in AWS's Cost Explorer, a run counts with the tags that its job had when the run ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

DAY_MS = 24 * 3600 * 1000
COST_DAYS = 400
"""For how many days costs are kept, longer than runs: a year and some."""


@dataclass(frozen=True, slots=True)
class DayCost:
    """What the runs of a job cost that ended on one day with the same tags.

    Args:
        day: days since 1970, in UTC.
        job: name of the job.
        tags: of the job.
        runs: how many runs, each attempt counted.
        dpu_secs: seconds times data processing units.
        usd: price on AWS Glue.
    """

    day: int
    job: str
    tags: Mapping[str, str]
    runs: int
    dpu_secs: float
    usd: float


@dataclass(frozen=True, slots=True)
class TagCost:
    """What runs cost whose jobs had the same value of a tag.

    Args:
        value: of the tag; None for jobs without it.
        jobs: how many jobs.
        runs: how many runs, each attempt counted.
        dpu_hours: hours times data processing units.
        usd: price on AWS Glue.
    """

    value: str | None
    jobs: int
    runs: int
    dpu_hours: float
    usd: float


def day_of(at_ms: int) -> int:
    """Return the day of a moment, as days since 1970 in UTC."""
    return at_ms // DAY_MS


def tag_keys(costs: Iterable[DayCost]) -> list[str]:
    """Return the tags that jobs had, in the order of the alphabet."""
    return sorted({key for cost in costs for key in cost.tags})


def by_tag(costs: Iterable[DayCost], key: str) -> list[TagCost]:
    """Return the sums by the value of a tag, the largest first. Each run is in exactly one of them."""
    groups: dict[str | None, list[DayCost]] = defaultdict(list)
    for cost in costs:
        groups[cost.tags.get(key)].append(cost)
    sums = [
        TagCost(
            value,
            len({cost.job for cost in group}),
            sum(cost.runs for cost in group),
            sum(cost.dpu_secs for cost in group) / 3600,
            sum(cost.usd for cost in group),
        )
        for value, group in groups.items()
    ]
    return sorted(sums, key=lambda total: (-total.usd, total.value is None, total.value or ""))
