"""All series of a run: cuts of the code alone, then of jobs."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Literal

from tests.crash.driver import end_all
from tests.crash.servers import new_streams
from tests.crash.world import COPY, THRICE, Script
from tests.power import postgres
from tests.power.code import CodeOutcome, cut_code
from tests.power.disk import LIKE_EXT4, STRICT, Mode
from tests.power.jobs import JobOutcome, cut_bookmarks, cut_stream

Kind = Literal["code", "stream", "bookmarks"]
LEDGERS = ("sqlite", "postgresql")

# A series is one disk. Of a longer one a disk in memory gets large, and a fault in it says less.
MOST_OF_CODE, MOST_OF_JOB = 60, 25

# Of cuts of the code alone, those with a ledger on PostgreSQL, whose server has to start after each of them.
CODE_ON_POSTGRESQL = 0.2

# Of cuts of jobs, those of streams; Spark's unflushed files are theirs.
STREAMS = 0.6


@dataclass(frozen=True, slots=True)
class Series:
    """Cuts that follow each other on one disk.

    Args:
        kind: what is cut.
        mode: rules of the disk.
        ledger: `sqlite` or `postgresql`.
        cuts: how many.
        script: of a stream.
    """

    kind: Kind
    mode: Mode
    ledger: str
    cuts: int
    script: Script = COPY


def plans(job_cuts: int, code_cuts: int) -> list[Series]:
    """Return the series of a run, in their order."""
    on_postgresql = 0 if postgres.missing() else round(code_cuts * CODE_ON_POSTGRESQL)
    code = {"sqlite": code_cuts - on_postgresql, "postgresql": on_postgresql}
    streams = round(job_cuts * STREAMS)
    batch = job_cuts - streams
    of_batch = {"sqlite": batch - batch // 2, "postgresql": batch // 2}
    if postgres.missing():
        of_batch = {"sqlite": batch, "postgresql": 0}
    made = [
        Series("code", mode, ledger, part)
        for ledger in LEDGERS
        for mode, share in _halves(code[ledger])
        for part in _parts(share, MOST_OF_CODE)
    ]
    of_streams = [(mode, part) for mode, share in _halves(streams) for part in _parts(share, MOST_OF_JOB)]
    made += [
        Series("stream", mode, "sqlite", part, script)
        for (mode, part), script in zip(of_streams, cycle([COPY, THRICE]), strict=False)
    ]
    made += [
        Series("bookmarks", mode, ledger, part)
        for ledger in LEDGERS
        for mode, share in _halves(of_batch[ledger])
        for part in _parts(share, MOST_OF_JOB)
    ]
    return made


def _halves(cuts: int) -> list[tuple[Mode, int]]:
    return [(LIKE_EXT4, cuts - cuts // 2), (STRICT, cuts // 2)]


def _parts(cuts: int, most: int) -> Iterator[int]:
    """Parts of about one size."""
    many = -(-cuts // most)
    yield from (cuts * (n + 1) // many - cuts * n // many for n in range(many))


def run_all(
    *, seed: int, series: list[Series], at_once: int, most_secs: float, folder: Path, say: Callable[[str], None]
) -> tuple[list[CodeOutcome], list[JobOutcome]]:
    """Run series, those of jobs so many at once; the folders of those that found nothing wrong are removed.

    After `most_secs` no series begins any more, and those that run cut no more.
    """
    until = time.monotonic() + most_secs
    folder.chmod(0o755)  # PostgreSQL runs as another user
    named = [(f"{one.kind}-{one.mode}-{one.ledger}-{number}", one) for number, one in enumerate(series)]

    def end(outcome: CodeOutcome | JobOutcome, own: Path) -> None:
        say(f"{own.name}: {'right' if outcome.right else 'WRONG'} after {outcome.cuts} cuts")
        if outcome.right:
            shutil.rmtree(own)

    of_code: list[CodeOutcome] = []
    # Lives of the code alone are forked from this process, so no other thread of it may run meanwhile.
    for name, one in named:
        if one.kind == "code" and time.monotonic() < until:
            own = folder / name
            of_code.append(cut_code(name, one.mode, one.ledger, f"{seed}:{name}", one.cuts, own, until))
            end(of_code[-1], own)

    of_jobs = [(name, one) for name, one in named if one.kind != "code"]
    sources = {"kafka"} if any(one.kind == "stream" for _, one in of_jobs) else set()
    with new_streams(sources, folder) as new_stream, ThreadPoolExecutor(at_once) as pool:

        def run(given: tuple[str, Series]) -> JobOutcome | None:
            name, one = given
            if time.monotonic() > until:
                return None
            where, own = f"{seed}:{name}", folder / name
            if one.kind == "stream":
                stream = new_stream["kafka"]()
                outcome = cut_stream(name, one.mode, one.script, where, one.cuts, stream, own, until, say)
            else:
                outcome = cut_bookmarks(name, one.mode, one.ledger, where, one.cuts, own, until, say)
            end(outcome, own)
            return outcome

        try:
            return of_code, [one for one in pool.map(run, of_jobs) if one is not None]
        except BaseException:
            end_all()
            raise
