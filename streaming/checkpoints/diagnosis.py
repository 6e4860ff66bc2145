"""Finds the faults of a checkpoint and the safe repairs. Pure.

At a start Spark (`MicroBatchExecution.populateStartOffsets`, 4.1) takes the newest entry N of the offset log and also
needs entry N-1. If `commits/N` exists, Spark continues with batch N+1; otherwise it runs batch N again. It reads no
older files. So the start depends on these files, and a fault in them blocks:

- `metadata`: without it Spark makes a new query id, and what was published under the old id is published again.
- `offsets/N` and `offsets/N-1`: they must be whole, and in the right place (`chain`).
- the newest commit: it must be whole, and its batch must have been planned.

The following repairs are safe because a batch may run again: our sinks skip a batch that holds the same records, and
replace or refuse it if it holds others (`gluepot.commit.overlap`). A function's writes past our sinks are repeated,
which Glue's contract allows.

- A broken newest entry is set aside with its commit: its batch is planned again.
- A broken commit is set aside: its batch runs again.
- A broken entry that its neighbours prove is rewritten.
- A checksum file that contradicts an entry whose own checksum is right is set aside.

Limits: a commit that was copied to the number of a planned batch that never ran looks like a real one. Entries of
foreign sources carry no checksum of the previous entry. In them we notice only torn files, exact copies and wrong
checksum files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from gluepot.connectors.streams.start import START_FILE, parse_start
from gluepot.core.errors import CheckpointError
from gluepot.streaming.checkpoints.chain import Chain, judge
from gluepot.streaming.checkpoints.contents import Damage, OffsetFile, checksum_holds
from gluepot.streaming.checkpoints.findings import Finding, Rewrite, SetAside
from gluepot.streaming.checkpoints.lease import Owner
from gluepot.streaming.checkpoints.names import METADATA, checksum_of, lease_number
from gluepot.streaming.checkpoints.snapshot import Snapshot

PLANNED_ANEW = "its batch is planned anew, or written as the table has it with --table TABLE"
RUNS_AGAIN = "its batch runs again with the same records, and our sinks skip what they have"
UNREAD = "no start reads it any more"


def diagnose(snapshot: Snapshot) -> list[Finding]:
    """Return every fault that the files themselves show, blocking faults first."""
    chain = judge(snapshot.offsets(), _chosen_starts(snapshot))
    findings = [
        *_metadata(snapshot),
        *_offset_log(snapshot, chain),
        *_commit_log(snapshot, chain),
        *_start_file(snapshot),
        *_lease(snapshot),
        *_other_files(snapshot),
    ]
    return sorted(findings, key=lambda one: not one.blocks)


def _metadata(snapshot: Snapshot) -> Iterator[Finding]:
    remedy = (
        f"run `gluepot checkpoint doctor {snapshot.location} --repair --table TABLE`, which finds the id in the table's"
        f" manifests, or `gluepot checkpoint rewind {snapshot.location} --from-table TABLE`"
    )
    match snapshot.query_id():
        case Damage(what):
            yield Finding(METADATA, what, blocks=True, then=remedy)
        case None if snapshot.batches("offsets") or snapshot.batches("commits"):
            yield Finding(METADATA, "is missing", blocks=True, then=remedy)


def _offset_log(snapshot: Snapshot, chain: Chain) -> Iterator[Finding]:
    top = chain.top
    oldest = min(chain.entries, default=0)
    needed_before_top = {top - 1} if top > 0 else set()
    for n in sorted({*chain.entries, *range(oldest, top), *needed_before_top}):
        key = f"offsets/{n}"
        if n in chain.proven:
            proof = f"it is written as it was, which offsets/{n + 1} proves"
            yield Finding(key, chain.fault(n), n >= top - 1, Rewrite(key, chain.proven[n].data), proof)
        elif n not in chain.sound:
            yield _broken_entry(snapshot, chain, n)
        elif chain.broken_before(n):
            yield Finding(
                key, f"is not the entry after offsets/{n - 1}", blocks=True, then=_start_over(snapshot, chain)
            )
        elif (entry := chain.whole(n)) and entry.contradicted:
            crc = checksum_of(key)
            yield Finding(crc, f"contradicts offsets/{n}", n >= top - 1, SetAside((crc,)), "the entry proves itself")


def _broken_entry(snapshot: Snapshot, chain: Chain, n: int) -> Finding:
    key, top = f"offsets/{n}", chain.top
    if n < top - 1:
        return Finding(key, chain.fault(n), then=UNREAD)
    last_done = max(snapshot.batches("commits"), default=-1)
    if 0 <= top < n and (n == top + 1 >= last_done or last_done < n - 1):
        # n is the batch after the last good one, or Spark cannot have planned it, because it plans n when n-1 is done.
        aside = SetAside((key, checksum_of(key), f"commits/{n}", checksum_of(f"commits/{n}")))
        return Finding(key, chain.fault(n), blocks=True, repair=aside, then=PLANNED_ANEW)
    return Finding(key, chain.fault(n), blocks=True, then=_start_over(snapshot, chain))


def _start_over(snapshot: Snapshot, chain: Chain) -> str:
    """Return the commands that start over, from the table, or from the newest committed entry if that is whole."""
    command = f"gluepot checkpoint rewind {snapshot.location}"
    newest = chain.entries.get(max(snapshot.batches("commits"), default=-1))
    if not isinstance(newest, OffsetFile) or not newest.positions:
        return f"run `{command} --from-table TABLE`, or restore the folder from a copy"
    offsets: dict[str, dict[str, int]] = {}
    for positions in newest.positions:
        for (topic, partition), end in sorted(positions.ends().items()):
            offsets.setdefault(topic, {})[str(partition)] = end
    return f"run `{command} --from-table TABLE`, or `{command} --to-offsets '{json.dumps(offsets)}'`"


def _commit_log(snapshot: Snapshot, chain: Chain) -> Iterator[Finding]:
    planned, done, commits = snapshot.batches("offsets"), snapshot.batches("commits"), snapshot.commits()
    last_planned = max(planned, default=-1)
    for n in done:
        key = f"commits/{n}"
        aside = SetAside((key, checksum_of(key)))
        if n > last_planned:
            what = f"says that batch {n} is done, and there is no offsets/{n}"
            if n == last_planned + 1 == chain.top + 1 > 0:
                yield Finding(key, what, blocks=True, repair=aside, then=PLANNED_ANEW)
            else:
                yield Finding(key, what, blocks=True, then=_start_over(snapshot, chain))
        elif isinstance(commit := commits.get(n), Damage):
            then = RUNS_AGAIN if n == last_planned else f"offsets/{n + 1} shows that the batch is done"
            yield Finding(key, commit.what, blocks=n == done[-1], repair=aside, then=then)
    for n in sorted({*planned[:-1]} - {*done}):
        if n >= min(done, default=0) and n + 1 in planned:
            yield Finding(f"commits/{n}", "is missing", then=f"offsets/{n + 1} shows that the batch is done")


def _chosen_starts(snapshot: Snapshot) -> list[str]:
    try:
        data = snapshot.contents.get(START_FILE)
        return [] if data is None else [parse_start(data).check]
    except CheckpointError:
        return []


def _start_file(snapshot: Snapshot) -> Iterator[Finding]:
    if (data := snapshot.contents.get(START_FILE)) is None:
        return
    try:
        parse_start(data)
    except CheckpointError as damaged:
        used = not snapshot.batches("offsets")
        rewind = f"run `gluepot checkpoint rewind {snapshot.location}` again to choose where to start"
        yield Finding(START_FILE, str(damaged), blocks=used, then=rewind if used else UNREAD)


def _lease(snapshot: Snapshot) -> Iterator[Finding]:
    numbers = {n: key for key in snapshot.contents if (n := lease_number(key)) is not None}
    if not numbers:
        return
    newest = numbers[max(numbers)]
    try:
        Owner(**json.loads(snapshot.contents[newest]))
    except (ValueError, TypeError):
        what = f"({len(snapshot.contents[newest])} bytes) does not name an owner"
        yield Finding(newest, what, blocks=True, then="remove it if no query runs on this checkpoint")


def _other_files(snapshot: Snapshot) -> Iterator[Finding]:
    of_files = {checksum_of(name.key) for name in snapshot.names}
    for name in snapshot.names:
        aside = SetAside((name.key,))
        match name.kind:
            case "temporary":
                yield Finding(name.key, "is left of a writer that died", repair=aside, then=UNREAD)
            case "checksum" if name.key not in of_files:
                yield Finding(name.key, "is the checksum of a file that is gone", repair=aside, then=UNREAD)
            case "sources":
                yield from _source_file(snapshot, name.key)
            case "unknown":
                yield Finding(name.key, "is neither Spark's nor Gluepot's", then="nobody reads it")


def _source_file(snapshot: Snapshot, key: str) -> Iterator[Finding]:
    data = snapshot.contents.get(key)
    if data is None:
        return
    remedy = "restore it from a copy, because only the source that wrote it understands it"
    if not data:
        yield Finding(key, "is empty", blocks=True, then=remedy)
    elif not checksum_holds(data, snapshot.contents.get(checksum_of(key))):
        yield Finding(key, "does not match its checksum file", blocks=True, then=remedy)
