"""Finds what a power cut may have left of a checkpoint on a local disk, where nothing can have been lost. Pure.

Spark writes its entries through Hadoop's local file system, which never flushes them. So after a power cut the newest
entries may be empty, cut off, full of zeros or gone, each for itself. `Query` therefore flushes `metadata` and
`offsets/N` before it calls the function of batch N (`Checkpoint.keep_planned`). From that follows:

- A torn entry of the commit log says nothing that is needed: its batch was planned, and runs again with the same
  records, as after a crash just before the entry was written. Our sinks skip what they have.
- A torn newest entry N of the offset log, or one beside which there is no commit, belongs to a batch whose function was
  not called. It is planned again.
- If `metadata` is torn or gone and no batch after the first was planned, the function was never called.
- A checksum file that contradicts an entry whose own checksum holds, or whose file is gone, is left of such a write.

Other damage is not of a power cut, or may have lost something: `refuse_damage` names the file and the remedy. If the
entry of a batch that did run is torn all the same, because an older Gluepot did not flush or the disk lied, the table's
check refuses a batch that would double or lose records (`gluepot.commit.overlap`).
"""

from __future__ import annotations

from collections.abc import Iterator

from gluepot.streaming.checkpoints.chain import judge
from gluepot.streaming.checkpoints.contents import Damage, OffsetFile
from gluepot.streaming.checkpoints.findings import Finding, SetAside
from gluepot.streaming.checkpoints.names import METADATA, checksum_of
from gluepot.streaming.checkpoints.snapshot import Snapshot

_AGAIN = "its batch runs again with the same records"
_ANEW = "the function of its batch was not called yet"
_UNREAD = "nobody reads it"


def after_power_cut(snapshot: Snapshot) -> list[Finding]:
    """Return what a start may set aside by itself; empty if nothing is torn, or if nothing of it is safe."""
    return [*_commits(snapshot), *_newest_offsets(snapshot), *_beginning(snapshot), *_checksums(snapshot)]


def _commits(snapshot: Snapshot) -> Iterator[Finding]:
    last = max(snapshot.batches("offsets"), default=-1)  # Spark may have purged the entry of a batch before it
    for n, commit in snapshot.commits().items():
        if isinstance(commit, Damage) and commit.torn and n <= last:
            yield _aside(f"commits/{n}", commit.what, _AGAIN)


def _newest_offsets(snapshot: Snapshot) -> Iterator[Finding]:
    entries = snapshot.offsets()
    n = max(snapshot.batches("offsets"), default=-1)
    entry = entries.get(n)
    top = judge(entries).top
    if not isinstance(entry, Damage) or not entry.torn or n in snapshot.batches("commits"):
        return
    if n == top + 1:
        yield _aside(f"offsets/{n}", entry.what, _ANEW)


def _beginning(snapshot: Snapshot) -> Iterator[Finding]:
    query, planned = snapshot.query_id(), snapshot.batches("offsets")
    lost = query is None or (isinstance(query, Damage) and query.torn)
    if not lost or planned not in ([], [0]) or snapshot.batches("commits"):
        return
    if isinstance(query, Damage):
        yield _aside(METADATA, query.what, _ANEW)
    if isinstance(snapshot.offsets().get(0), OffsetFile):  # a torn one is set aside in any case
        yield _aside("offsets/0", "has no query id beside it", _ANEW)


def _checksums(snapshot: Snapshot) -> Iterator[Finding]:
    for n, entry in snapshot.offsets().items():
        if isinstance(entry, OffsetFile) and entry.contradicted:
            crc = checksum_of(f"offsets/{n}")
            yield Finding(crc, f"contradicts offsets/{n}", repair=SetAside((crc,)), then="the entry proves itself")
    of_files = {checksum_of(one.key) for one in snapshot.names}
    for one in snapshot.names:
        if one.kind == "checksum" and one.key not in of_files:
            yield Finding(one.key, "is the checksum of a file that is gone", repair=SetAside((one.key,)), then=_UNREAD)


def _aside(key: str, what: str, then: str) -> Finding:
    return Finding(key, what, blocks=True, repair=SetAside((key, checksum_of(key))), then=then)
