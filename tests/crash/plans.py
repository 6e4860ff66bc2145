"""Which campaigns make up a run, given how many kills were asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Literal

from tests.crash.campaign import Plan
from tests.crash.driver import Victim
from tests.crash.points import POINTS
from tests.crash.world import COPY, THRICE

Aim = Literal["mixed", "group", "driver", "jvm", "worker"]

# Worker kills are cheap, as the job goes on; those of the group are what happens to real jobs.
MIX: Sequence[Victim] = ("group",) * 8 + ("worker",) * 6 + ("jvm",) * 3 + ("driver",) * 3
S3_SHARE = 5
KILLS_PER_JOB = 25


def plans(seed: int, lanes: Sequence[str], aims: Sequence[Aim], kills: int, *, points: bool) -> list[Plan]:
    """Return the campaigns of a run, the longest first.

    Args:
        seed: of everything.
        lanes: where tables lie; with both of them S3 gets every fifth random kill.
        aims: who is killed at random moments; `kills` for each of them.
        kills: random kills per aim.
        points: whether each lane also meets all kill points.
    """
    made = [Plan(f"points-{lane}", lane, COPY, f"{seed}:points:{lane}", POINTS) for lane in lanes if points]
    for aim in aims:
        victims = list(_victims(aim, kills, Random(f"{seed}:{aim}")))
        on_s3 = kills // S3_SHARE if set(lanes) == {"local", "s3"} else kills if "s3" in lanes else 0
        for lane, share in (("local", victims[on_s3:]), ("s3", victims[:on_s3])):
            for number, some in enumerate(_parts(share)):
                script = (THRICE, COPY)[number % 2] if lane == "local" else COPY
                name = f"{aim}-{lane}-{number}"
                made.append(Plan(name, lane, script, f"{seed}:{name}", victims=some))
    return made


def _victims(aim: Aim, kills: int, chance: Random) -> Iterator[Victim]:
    for number in range(kills):
        if aim != "mixed":
            yield aim
        elif number < len(MIX):
            yield MIX[number * 7 % len(MIX)]  # 7 and 20 have no common divisor: each entry once, in mixed order
        else:
            yield chance.choice(MIX)


def _parts(victims: Sequence[Victim]) -> Iterator[Sequence[Victim]]:
    """At least two jobs where there are enough kills, and none with a table of many thousand files."""
    size = min(KILLS_PER_JOB, max(1, -(-len(victims) // 2)))
    yield from (victims[at : at + size] for at in range(0, len(victims), size))
