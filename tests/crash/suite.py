"""All campaigns of a run, some side by side, on one server of each system."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tests.crash.campaign import Plan, run
from tests.crash.driver import end_all
from tests.crash.lanes import SOURCES
from tests.crash.outcome import Outcome
from tests.crash.plans import Aim, plans
from tests.crash.points import Choice
from tests.crash.servers import new_streams
from tests.crash.world import COPY, THRICE, Script


def run_all(
    *,
    seed: int,
    lanes: Sequence[str],
    aims: Sequence[Aim],
    kills: int,
    points: Choice,
    scripts: Sequence[Script] = (THRICE, COPY),
    at_once: int,
    most_secs: float = math.inf,
    folder: Path,
    say: Callable[[str], None],
) -> list[Outcome]:
    """Run what `plans` says; the folders of campaigns that found nothing wrong are removed.

    After `most_secs` no campaign begins any more, and those that run do no more killing.
    """
    until = time.monotonic() + most_secs
    sources = {SOURCES[lane] for lane in lanes}
    with new_streams(sources, folder) as new_stream, ThreadPoolExecutor(at_once) as pool:

        def one(plan: Plan) -> Outcome | None:
            if time.monotonic() > until:
                return None
            outcome = run(plan, new_stream[SOURCES[plan.lane]](), folder / plan.name, say)
            say(f"{plan.name}: {'right' if outcome.right else 'WRONG'}, {outcome.secs:.0f} s")
            if outcome.right:
                shutil.rmtree(folder / plan.name)
            return outcome

        try:
            planned = [
                replace(plan, until=until) for plan in plans(seed, lanes, aims, kills, points=points, scripts=scripts)
            ]
            return [outcome for outcome in pool.map(one, planned) if outcome is not None]
        except BaseException:
            end_all()
            raise
