"""Which campaigns make up a run, given how many kills were asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Literal

from tests.crash.campaign import Plan
from tests.crash.driver import Victim
from tests.crash.lanes import SOURCES
from tests.crash.points import Choice, points_of
from tests.crash.world import ANY_ORDER, COPY, THRICE, Script

Aim = Literal["mixed", "group", "driver", "jvm", "worker"]

# Worker kills are cheap, as the job goes on; those of the group are what happens to real jobs.
MIX: Sequence[Victim] = ("group",) * 8 + ("worker",) * 6 + ("jvm",) * 3 + ("driver",) * 3
OTHERS_SHARE = 5
RESHARDS_PER_START, WORKERS_PER_RESHARD = 2, 2
"""Workers are killed so fast that an emulator cannot split and merge for each of them."""
USUAL: Mapping[str, Sequence[Script]] = {"postgresql": [ANY_ORDER], "mariadb": [ANY_ORDER]}
"""The scripts of a lane whose tables others cannot write; elsewhere all are used, THRICE and COPY by default."""
MIN_KILLS, KILLS_PER_JOB, WORKERS_PER_JOB = 8, 25, 100
"""With more kills a table would get many thousand files. Workers are killed so fast that fewer batches lie between."""


def plans(
    seed: int,
    lanes: Sequence[str],
    aims: Sequence[Aim],
    kills: int,
    *,
    points: Choice,
    scripts: Sequence[Script] = (THRICE, COPY),
) -> list[Plan]:
    """Return the campaigns of a run, the longest first.

    Args:
        seed: of everything.
        lanes: which; where several are, every other one than the first gets a fifth of the random kills.
        aims: who is killed at random moments; `kills` for each of them.
        kills: random kills per aim.
        points: which of its kill points each lane also meets; the same job goes on with random kills, as its last
            start, which only catches up, costs as much as a kill.
        scripts: of the jobs, in turns; the points are met by the last one.
    """
    made = []
    for lane in lanes:
        used = USUAL.get(lane, scripts)
        parts = [(aim, part) for aim in aims for part in _parts(aim, _share(seed, aim, kills, lane, lanes))]
        if chosen := [point for point in points_of(lane, used[-1]) if points(lane, point)]:
            _, after_points = parts.pop(0) if parts else ("", ())
            name = f"points-{lane}"
            made.append(Plan(name, lane, used[-1], f"{seed}:{name}", chosen, after_points))
        for number, (aim, part) in enumerate(parts):
            name = f"{aim}-{lane}-{number}"
            made.append(Plan(name, lane, used[number % len(used)], f"{seed}:{name}", victims=part))
    made = [replace(plan, reshards=_reshards(plan)) for plan in made]
    return sorted(made, key=lambda plan: -len(plan.points) - len(plan.victims))


def _reshards(plan: Plan) -> int:
    if SOURCES[plan.lane] == "kafka":
        return 0
    workers = plan.victims.count("worker")
    starts = len(plan.victims) - workers
    return len(plan.points) + RESHARDS_PER_START * starts + workers // WORKERS_PER_RESHARD


def _share(seed: int, aim: Aim, kills: int, lane: str, lanes: Sequence[str]) -> Sequence[Victim]:
    victims = list(_victims(aim, kills, Random(f"{seed}:{aim}")))
    size, (first, *others) = kills // OTHERS_SHARE, lanes
    if lane == first:
        return victims[size * len(others) :]
    at = others.index(lane) * size
    return victims[at : at + size]


def _victims(aim: Aim, kills: int, chance: Random) -> Iterator[Victim]:
    for number in range(kills):
        if aim != "mixed":
            yield aim
        elif number < len(MIX):
            yield MIX[number * 7 % len(MIX)]  # 7 and 20 have no common divisor: each entry once, in mixed order
        else:
            yield chance.choice(MIX)


def _parts(aim: Aim, victims: Sequence[Victim]) -> Iterator[Sequence[Victim]]:
    """Two jobs where there are enough kills, more where there are many."""
    half = -(-len(victims) // 2)
    size = max(MIN_KILLS, min(WORKERS_PER_JOB if aim == "worker" else KILLS_PER_JOB, half))
    yield from (victims[at : at + size] for at in range(0, len(victims), size))
