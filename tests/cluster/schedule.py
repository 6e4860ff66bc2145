"""What the nemesis does, drawn from a seed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from random import Random

DRIVERS = ("driver-a", "driver-b")
ACTIVE = "active"
"""Stands for the driver that holds the lease when the fault begins."""
S3, POSTGRESQL, CLIENT = "s3", "postgresql", "client"

FIRST_SECS = 3.0
GAP_SECS = (2.0, 9.0)
"""Between the beginnings of two faults; faults overlap."""
SHORT_SECS, LONG_SECS = (1.0, 4.0), (3.0, 25.0)
CLOCK_STEPS_SECS = (-86_400, -3_600, -20, -2, 2, 20, 3_600, 86_400)
ACTIVE_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Args:
        at_secs: when it begins, after the beginning of the run.
        for_secs: how long it lasts.
        what: see `_KINDS`.
        target: a host, two hosts `a|b`, or a disk.
        detail: which process is hit, or how far a clock is set.
    """

    at_secs: float
    for_secs: float
    what: str
    target: str
    detail: str = ""


def schedule(
    seed: str, secs: float, brokers: int, lease_secs: float, *, clocks: bool, only: Collection[str] = ()
) -> list[Fault]:
    """Return the faults of a run, by their beginning; all end in time.

    Args:
        seed: equal seeds have equal faults.
        secs: how long faults may last.
        brokers: how many there are.
        lease_secs: some pauses last longer.
        clocks: whether clocks can be set here.
        only: kinds of faults; all without any.
    """
    chance = Random(seed)
    kinds = {what: weight for what, weight in WEIGHTS.items() if what in (only or WEIGHTS)}
    if not clocks:
        kinds.pop("clock", None)
    faults: list[Fault] = []
    at = FIRST_SECS
    while at < secs:
        what = chance.choices(list(kinds), list(kinds.values()))[0]
        target, detail, for_secs = _KINDS[what](chance, [f"kafka-{n}" for n in range(1, brokers + 1)], lease_secs)
        fault = Fault(round(at, 1), round(min(for_secs, secs - at), 1), what, target, detail)
        if not any(_same(one, fault) for one in faults):
            faults.append(fault)
        at += chance.uniform(*GAP_SECS)
    return faults


def _same(one: Fault, other: Fault) -> bool:
    """Whether a fault would hit what an equal one holds already."""
    return (one.what, one.target) == (other.what, other.target) and other.at_secs <= one.at_secs + one.for_secs


_Drawn = tuple[str, str, float]


def _driver(chance: Random) -> str:
    return ACTIVE if chance.random() < ACTIVE_SHARE else chance.choice(DRIVERS)


def _secs(chance: Random, lease_secs: float) -> float:
    """Short, long, or a little longer than the lease."""
    return chance.choice(
        [chance.uniform(*SHORT_SECS), chance.uniform(*LONG_SECS), lease_secs * chance.uniform(1.1, 2.5)]
    )


def _cut(chance: Random, brokers: list[str], lease_secs: float) -> _Drawn:
    pair = chance.choice(
        [
            (_driver(chance), chance.choice([*brokers, S3, POSTGRESQL])),
            (chance.choice(brokers), chance.choice(brokers)),
            (CLIENT, chance.choice(brokers)),
        ]
    )
    if pair[0] == pair[1]:
        pair = (pair[0], _driver(chance))
    if chance.random() < 0.5:
        pair = (pair[1], pair[0])
    return "|".join(pair), "", _secs(chance, lease_secs)


def _host(chance: Random, brokers: list[str], lease_secs: float) -> _Drawn:
    return chance.choice([_driver(chance), chance.choice(brokers), S3, POSTGRESQL]), "", _secs(chance, lease_secs)


def _pause(chance: Random, brokers: list[str], lease_secs: float) -> _Drawn:
    if chance.random() < 0.6:
        return _driver(chance), chance.choice(["all", "all", "driver", "jvm"]), _secs(chance, lease_secs)
    return chance.choice([*brokers, S3, POSTGRESQL]), "all", _secs(chance, lease_secs)


def _kill(chance: Random, brokers: list[str], lease_secs: float) -> _Drawn:
    if chance.random() < 0.6:
        return _driver(chance), chance.choice(["group", "driver", "jvm", "worker"]), 0.0
    return chance.choice([*brokers, POSTGRESQL]), "group", _secs(chance, lease_secs)


def _clock(chance: Random, _: list[str], __: float) -> _Drawn:
    return _driver(chance), str(chance.choice(CLOCK_STEPS_SECS)), 0.0


def _fill(chance: Random, brokers: list[str], _: float) -> _Drawn:
    return chance.choice(["checkpoint", brokers[-1], POSTGRESQL]), "", chance.uniform(*LONG_SECS) / 2


_KINDS: Mapping[str, Callable[[Random, list[str], float], _Drawn]] = {
    "cut": _cut,
    "cut-one-way": _cut,
    "isolate": _host,
    "unplug": _host,
    "slow": _host,
    "pause": _pause,
    "kill": _kill,
    "clock": _clock,
    "fill": _fill,
}
WEIGHTS = {
    "cut": 3,
    "cut-one-way": 3,
    "isolate": 2,
    "unplug": 1,
    "slow": 1,
    "pause": 5,
    "kill": 4,
    "clock": 3,
    "fill": 2,
}
