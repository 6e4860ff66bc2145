"""One life of a process that does what jobs do with checkpoint, tables and ledger, without Spark; it ends by a cut.

It takes the lease of a checkpoint and opens its journal, publishes batches to a table and to one of two others at random,
takes back what an earlier attempt put into the other one, and commits runs with a bookmark to a ledger. It tells what is
done as a job would tell somebody outside: what was told must be there after any cut.

The entries that Spark makes are stood for by `offsets/N`, which is flushed, and `commits/N`, which is not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from uuid import uuid4

from gluepot.bookmarks.ledger import Change, LedgerWrite, RunStart
from gluepot.bookmarks.ledger.connect import open_ledger
from gluepot.bookmarks.ledger.lease import begin_run, this_process
from gluepot.bookmarks.ledger.owner_lock import OwnerLock
from gluepot.bookmarks.run_journal import RunJournal
from gluepot.commit import FILES, Journal, Origin, QueryWrites, Target, Write, place_digest
from gluepot.connectors.values import CommitKey, Manifest, SourceRange
from gluepot.core.clock import SystemClock
from gluepot.core.storage import LocalStorage
from gluepot.streaming.checkpoints import lease
from tests.unit.commit.worlds import offsets, staged

CLOCK = SystemClock()
LEASE_SECS = 0.2
QUERY, JOB, READ = "query-1", "copy", "read"
MOST_ROWS = 4

Say = Callable[[str, int, int], None]  # what, its number, and the number of rows up to its end


@dataclass(frozen=True, slots=True)
class Place:
    """Where a process lives.

    Args:
        folder: on the file system that loses power.
        ledger: URL of the ledger.
    """

    folder: Path
    ledger: str

    @property
    def checkpoint(self) -> LocalStorage:
        return LocalStorage(self.folder / "job" / "checkpoint")

    def table(self, name: str) -> LocalStorage:
        return LocalStorage(self.folder / "lake" / name)


def live(place: Place, chance: Random, say: Say, batches: int) -> None:
    """Do so many batches and runs."""
    checkpoint = place.checkpoint
    with lease.take(checkpoint, CLOCK, ttl_secs=LEASE_SECS) as held:
        writes = QueryWrites(QUERY, held.token, Journal(checkpoint, held.token))
        ledger = open_ledger(place.ledger, CLOCK)
        for _ in range(batches):
            _batch(place, writes, held.token, chance, say)
            with ExitStack() as stack:
                lock = OwnerLock(place.folder / "job" / "state" / "leases", place.ledger, JOB)
                stack.enter_context(lock)
                start = RunStart(JOB, f"jr_{uuid4().hex}", "enable")
                run = begin_run(ledger, start, this_process(), CLOCK, LEASE_SECS, lock)
                before = int((ledger.state(JOB, READ, run.base) or ["0"])[-1])
                say("bookmark", run.job.run - 1, before)
                end = before + chance.randint(1, MOST_ROWS)
                of_run = QueryWrites(run.job.uid, run.token, RunJournal(ledger, run))
                of_run.begin_attempt(run.job.run)
                key = CommitKey(run.job.uid, run.job.run, "sink", place_digest(place.table("runs").url))
                _write(place.table("runs"), of_run, key, run.token, offsets(before, end, "run"), f"run:{before}:{end}")
                of_run.settle()
                ledger.commit(run, {READ: Change(str(end))}, [LedgerWrite("sink", "runs", end - before, 1)])
                say("run", run.job.run, end)
        ledger.close()


def _batch(place: Place, writes: QueryWrites, token: int, chance: Random, say: Say) -> None:
    checkpoint = place.checkpoint
    ends = _ends(checkpoint)
    number = len(ends) if not ends or _is_done(checkpoint, len(ends) - 1) else len(ends) - 1
    before = ends[number - 1] if number else 0
    end = ends[number] if number < len(ends) else before + chance.randint(1, MOST_ROWS)
    checkpoint.create(f"offsets/{number}", json.dumps(end).encode())
    read = offsets(before, end, "batch")
    writes.begin_attempt(number)
    _write_to(place, "all", writes, CommitKey(QUERY, number, "all"), token, read)
    _write_to(place, chance.choice(["even", "odd"]), writes, CommitKey(QUERY, number, "part"), token, read)
    writes.settle()
    say("batch", number, end)
    done = checkpoint.root / "commits" / str(number)
    done.parent.mkdir(exist_ok=True)
    done.write_text("done")


def _ends(checkpoint: LocalStorage) -> list[int]:
    """The number of rows up to the end of each planned batch."""
    return [int(checkpoint.get(f"offsets/{number}")) for number in range(len(checkpoint.list("offsets")))]


def _is_done(checkpoint: LocalStorage, number: int) -> bool:
    """Whether the batch's entry in the commit log survived; of those before the newest batch Spark reads none."""
    return (checkpoint.root / "commits" / str(number)).is_file()


def _write_to(place: Place, name: str, writes: QueryWrites, key: CommitKey, token: int, read: SourceRange) -> None:
    table = place.table(name)
    _write(table, writes, CommitKey(key.query_id, key.batch_id, key.ctx, place_digest(table.url)), token, read)


def _write(
    table: LocalStorage, writes: QueryWrites, key: CommitKey, token: int, read: SourceRange, digest: str = ""
) -> None:
    """Do with one write what the engine does; the input of a run is known by its digest."""
    target, planned = Target(table, table), Manifest(key, (), () if digest else (read,), digest, token)
    opened = writes.open(target, planned, Write(FILES, table.url, key.ctx), lambda _: None)
    opened.check(planned, Origin("checkpoint"))
    if opened.adopted(planned):
        return
    manifest = staged(target, [read], attempt=uuid4().hex[:8], key=key, token=token)
    if digest:
        parts = [replace(part, ranges=()) for part in manifest.parts]
        manifest = replace(manifest, parts=parts, offsets_digest=digest)
    opened.publish(manifest)
