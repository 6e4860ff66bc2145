"""All series of a run: cuts of the code alone, then of jobs."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
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
    *, seed: int, series: list[Series], most_secs: float, folder: Path, say: Callable[[str], None]
) -> tuple[list[CodeOutcome], list[JobOutcome]]:
    """Run series; the folders of those that found nothing wrong are removed.

    After `most_secs` no series begins any more, and the one that runs cuts no more.
    """
    until = time.monotonic() + most_secs
    of_code: list[CodeOutcome] = []
    of_jobs: list[JobOutcome] = []
    folder.chmod(0o755)  # PostgreSQL runs as another user
    try:
        with new_streams({"kafka"} if any(one.kind == "stream" for one in series) else set(), folder) as new_stream:
            for number, one in enumerate(series):
                if time.monotonic() > until:
                    break
                name = f"{one.kind}-{one.mode}-{one.ledger}-{number}"
                where, own = f"{seed}:{name}", folder / name
                match one.kind:
                    case "code":
                        done = cut_code(name, one.mode, one.ledger, where, one.cuts, own, until)
                        of_code.append(done)
                        right, cuts, faults = not done.faults, done.cuts, done.faults
                    case "stream" | "bookmarks":
                        of_jobs.append(
                            cut_stream(
                                name, one.mode, one.script, where, one.cuts, new_stream["kafka"](), own, until, say
                            )
                            if one.kind == "stream"
                            else cut_bookmarks(name, one.mode, one.ledger, where, one.cuts, own, until, say)
                        )
                        crash = of_jobs[-1].crash
                        right, cuts, faults = crash.right, len(crash.kills), crash.faults
                say(f"{name}: {'right' if right else 'WRONG'} after {cuts} cuts {'; '.join(faults)}")
                if right:
                    shutil.rmtree(own)
    except BaseException:
        end_all()
        raise
    return of_code, of_jobs
