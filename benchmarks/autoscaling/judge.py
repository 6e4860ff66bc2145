"""Runs of every rule on every load, summed up at equal SLO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.autoscaling.loads import FAMILIES, GOAL_BROKEN_SHARE, HELD_OUT_FAMILIES, Family
from benchmarks.autoscaling.oracle import clairvoyant
from benchmarks.autoscaling.plant import Outcome, World, simulate, world
from benchmarks.autoscaling.rivals import OURS, RIVALS, MakePolicy, Rule


@dataclass(frozen=True, slots=True)
class Summary:
    """Runs of one setting of one rule, each load weighing the same.

    Args:
        cost: worker-seconds over the oracle's, mean over runs.
        broken: share of the time with lag above the SLO.
        p99_lag_secs: the largest of the runs'.
        changes_per_hour: changes of the requested number of workers, per hour.
        reversals: within ten minutes, of all runs.
        settle_steps: changes in the hour after the largest jump, mean over runs.
    """

    cost: float
    broken: float
    p99_lag_secs: float
    changes_per_hour: float
    reversals: int
    settle_steps: float

    @property
    def keeps_slo(self) -> bool:
        """Whether the SLO was broken no longer than the goal allows."""
        return self.broken <= GOAL_BROKEN_SHARE


@dataclass(frozen=True, slots=True)
class Judged:
    """All outcomes on a set of worlds.

    Args:
        worlds: the runs' streams.
        oracle: outcome by world, in their order.
        outcomes: by rule and setting, outcomes in the order of the worlds.
    """

    worlds: Sequence[World]
    oracle: Sequence[Outcome]
    outcomes: dict[str, dict[str, Sequence[Outcome]]]

    def summary(self, rule: str, setting: str, families: Sequence[str]) -> Summary:
        """Sum up a rule's setting on the worlds of some families."""
        chosen = [index for index, one in enumerate(self.worlds) if one.family.name in families]
        runs = [(self.outcomes[rule][setting][index], self.oracle[index]) for index in chosen]
        return _summary(runs)

    def oracle_summary(self, families: Sequence[str]) -> Summary:
        """Sum up the oracle's runs on the worlds of some families."""
        chosen = [index for index, one in enumerate(self.worlds) if one.family.name in families]
        return _summary([(self.oracle[index], self.oracle[index]) for index in chosen])

    def cheapest(self, rule: str, families: Sequence[str]) -> tuple[str, Summary] | None:
        """Return the setting that keeps the SLO on these families at the least cost, or None if none does."""
        kept = [
            (setting, one)
            for setting in self.outcomes[rule]
            if (one := self.summary(rule, setting, families)).keeps_slo
        ]
        return min(kept, key=lambda one: one[1].cost, default=None)


def _summary(runs: Sequence[tuple[Outcome, Outcome]]) -> Summary:
    count = len(runs)
    return Summary(
        cost=sum((one.worker_secs / one.secs) / (best.worker_secs / best.secs) for one, best in runs) / count,
        broken=sum(one.broken_secs / one.secs for one, _ in runs) / count,
        p99_lag_secs=max(one.p99_lag_secs for one, _ in runs),
        changes_per_hour=sum(one.changes / one.secs * 3600 for one, _ in runs) / count,
        reversals=sum(one.reversals for one, _ in runs),
        settle_steps=sum(one.settle_steps for one, _ in runs) / count,
    )


def judge(families: Sequence[Family], seeds: Sequence[int], rules: Sequence[Rule] = (OURS, *RIVALS)) -> Judged:
    """Run every setting of the rules on every family and seed."""
    worlds = [world(family, seed) for family in families for seed in seeds]

    def runs(make: MakePolicy) -> list[Outcome]:
        return [simulate(one, make(one)) for one in worlds]

    outcomes: dict[str, dict[str, Sequence[Outcome]]] = {
        rule.name: {setting: runs(make) for setting, make in rule.settings.items()} for rule in rules
    }
    return Judged(worlds, [clairvoyant(one) for one in worlds], outcomes)


ALL = tuple(family.name for family in FAMILIES)
HELD_OUT = HELD_OUT_FAMILIES
TUNED = tuple(name for name in ALL if name not in HELD_OUT)
