"""The plan of a story: what is decided before it is played."""

from __future__ import annotations

import random
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields

from tests.simulate.objects import Network

COPIES: Mapping[str, int] = {"all": 1, "split": 1, "hour": 1, "halves": 1, "both": 2}
"""How often each group of tables holds a record; see `tests.simulate.script`."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens.

    Args:
        at_secs: when.
        kind: what, one of `KINDS`.
        number: how much of it, in the kind's own unit.
        changes: it waits until the newest driver begins to change a file for so many more times; 0: it does not wait.
    """

    at_secs: float
    kind: str
    number: float = 0.0
    changes: int = 0

    def __str__(self) -> str:
        waits = f", {self.changes} changes later" if self.changes else ""
        return f"{self.at_secs:9.1f} s  {self.kind} {self.number:g}{waits}"


KINDS: Mapping[str, tuple[float, float]] = {
    "kill": (0, 0),
    "second driver": (0, 1),  # 1: under another host name
    "stop": (1, 120),  # the driver is stopped for so many seconds
    "replaced": (20, 120),  # the same, and another one is started meanwhile
    "broker away": (1, 40),
    "broker lags": (1, 4),  # for so many seconds it knows less than it did
    "store away": (20, 90),  # S3 answers nothing for so many seconds; what it is asked for, it may do later
    "disk full": (1, 30),
    "power cut": (0, 0),
    "clock": (-90, 90),  # the clock of the machine is set by so many seconds
    "compact": (0, 0),
    "verify": (0, 0),
    "rewind": (0, 0),
    "old checkpoint": (0, 0),
    "recreate": (0, 1),  # before the next request of some kind to the broker; 1: the new topic is filled at once
    "purge": (0, 0),
    "damage": (20, 3000),  # a data file is damaged for so many seconds
    "commits refused": (1, 60),  # Spark cannot write its commit log for so many seconds
}
"""What can happen, and the least and the largest number of it."""

_RARE = frozenset({"old checkpoint", "recreate", "power cut", "purge", "damage"})
_MOST_CHANGES = 150  # of the files of some batches
_LOCAL = frozenset({"disk full", "power cut"})
_S3 = frozenset({"store away"})


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything about a story that is decided beforehand.

    Args:
        seed: decides everything else.
        on_s3: whether checkpoint and tables are in S3.
        partitions: of the topic.
        groups: the groups of tables that the job writes, see `COPIES`.
        window_secs: of the job.
        hour_secs: how long a folder named after the time keeps its name.
        records_a_sec: how many records are sent.
        fails: the share of calls of the batch function that raise.
        small: whether small batches run on the driver.
        lasts_secs: when faults end.
        network: how S3 answers until then.
        longest_secs: the longest time that a request to S3 takes until then, one way.
        events: what happens, in order of time.
    """

    seed: int
    on_s3: bool
    partitions: int
    groups: tuple[str, ...]
    window_secs: float
    hour_secs: float
    records_a_sec: float
    fails: float
    small: bool
    lasts_secs: float
    network: Network
    longest_secs: float
    events: tuple[Event, ...]

    def __str__(self) -> str:
        where = "S3" if self.on_s3 else "a local disk"
        wrong = ", ".join(
            f"{getattr(self.network, one.name):.1%} {one.name.replace('_', ' ')}"
            for one in fields(Network)
            if getattr(self.network, one.name)
        )
        head = (
            f"seed {self.seed}: a job with windows of {self.window_secs:g} s writes {', '.join(self.groups)} on {where};"
            f" {self.partitions} partitions, {self.records_a_sec:.2g} records/s;"
            f" {self.fails:.0%} of the calls of the function fail; requests: {wrong or 'all well'},"
            f" up to {self.longest_secs:g} s each way;"
            f" faults end after {self.lasts_secs:g} s"
        )
        return "\n".join([head, *map(str, self.events)])


def draw(seed: int) -> Plan:
    """Draw the plan of a story.

    A story does not get a little of everything, but some kinds of faults, and these often, so that rare pairs of faults
    meet ("swarm testing", Groce et al. 2012). For the same reason some stories have a few moments at which much happens.
    """
    chance = random.Random(f"{seed}/plan")
    on_s3 = chance.random() < 0.6
    window_secs = chance.choice((1.0, 5.0, 20.0, 60.0, 300.0))
    lasts_secs = window_secs * chance.choice((10, 30, 60)) + 200.0
    return Plan(
        seed=seed,
        on_s3=on_s3,
        partitions=chance.randrange(1, 4),
        groups=tuple(chance.sample(sorted(COPIES), chance.randrange(1, 4))),
        window_secs=window_secs,
        hour_secs=chance.choice((2.0, 30.0)),
        records_a_sec=chance.choice((2.0, 8.0)) / window_secs,
        fails=chance.choice((0.0, 0.1, 0.5)),
        small=chance.random() < 0.7,
        lasts_secs=lasts_secs,
        network=_draw_network(chance) if on_s3 else Network(),
        longest_secs=chance.choice((0.02, 0.3, 1.5)) if on_s3 else 0.0,
        events=_draw_events(chance, lasts_secs, _LOCAL if on_s3 else _S3),
    )


def _draw_network(chance: random.Random) -> Network:
    if chance.random() < 0.2:
        return Network()
    share = chance.choice((0.005, 0.02, 0.08))
    return Network(*(chance.choice((0.0, share)) for _ in fields(Network)))


def _draw_events(chance: random.Random, lasts_secs: float, impossible: AbstractSet[str]) -> tuple[Event, ...]:
    possible = [kind for kind in KINDS if kind not in impossible]
    kinds = [kind for kind in possible if chance.random() < (0.15 if kind in _RARE else 0.4)] or possible
    moments = [chance.uniform(5, lasts_secs) for _ in range(chance.randrange(1, 6))]
    are_together = chance.random() < 0.5
    found = []
    for _ in range(chance.randrange(2, 16)):
        kind = chance.choice(kinds)
        if are_together:
            at_secs = min(chance.choice(moments) + chance.expovariate(0.1), lasts_secs - 1)
        else:
            at_secs = chance.uniform(5, lasts_secs)
        changes = chance.randrange(1, _MOST_CHANGES) if chance.random() < 0.6 else 0
        found.append(Event(round(at_secs, 1), kind, round(chance.uniform(*KINDS[kind])), changes))
    return tuple(sorted(found, key=lambda one: one.at_secs))
