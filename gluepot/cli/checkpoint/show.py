"""Explains a checkpoint: as text for people, as one object for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from gluepot.streaming.checkpoints.contents import Damage, OffsetFile, QueryId
from gluepot.streaming.checkpoints.findings import Finding, Nothing, Rewrite, SetAside
from gluepot.streaming.checkpoints.lease import Owner
from gluepot.streaming.checkpoints.names import MEANING, FileName
from gluepot.streaming.checkpoints.snapshot import Snapshot


def described(snapshot: Snapshot, owner: Owner | None, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return everything `gluepot checkpoint show` knows.

    Args:
        snapshot: the complete contents of the checkpoint.
        owner: the driver that holds the lease now; None if no driver does.
        findings: what the diagnosis found.
    """
    planned, done = snapshot.batches("offsets"), snapshot.batches("commits")
    query = snapshot.query_id()
    return {
        "location": snapshot.location,
        "query_id": query.text if isinstance(query, QueryId) else None,
        "planned": {"oldest": min(planned, default=None), "newest": max(planned, default=None)},
        "committed": {"oldest": min(done, default=None), "newest": max(done, default=None)},
        "next": _next(planned, done),
        "offsets": list(_offsets(snapshot)),
        "lease": None if owner is None else asdict(owner),
        "files": [{"file": one.key, "kind": one.kind, "meaning": MEANING[one.kind]} for one in snapshot.names],
        "findings": [plain(one) for one in findings],
    }


def plain(finding: Finding) -> dict[str, Any]:
    """Return a finding for programs."""
    repair = finding.repair
    return {
        "file": finding.file,
        "what": finding.what,
        "blocks": finding.blocks,
        "repair": None if isinstance(repair, Nothing) else "rewrite" if isinstance(repair, Rewrite) else "set aside",
        "files": [repair.file]
        if isinstance(repair, Rewrite)
        else [*repair.files]
        if isinstance(repair, SetAside)
        else [],
        "then": finding.then,
    }


def lines(snapshot: Snapshot, about: dict[str, Any]) -> Iterator[str]:
    """Yield the text for people."""
    yield f"checkpoint {about['location']}"
    yield f"query id   {about['query_id'] or 'none'}"
    yield f"planned    {_span(about['planned'])}"
    yield f"committed  {_span(about['committed'])}"
    yield f"next       {about['next']}"
    yield f"lease      {_holder(about['lease'])}"
    for one in about["offsets"]:
        yield f"batch {one['batch']:<6} {one['topic']} partition {one['partition']}: {one['start']} to {one['end']}"
    for key, meaning in _grouped(snapshot.names):
        yield f"{key:<32} {meaning}"
    yield from finding_lines(about["findings"])


def finding_lines(findings: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield one line per finding."""
    for one in findings:
        mark = "fault  " if one["blocks"] else "note   "
        yield f"{mark} {one['file']} {one['what']}" + (f"; {one['then']}" if one["then"] else "")


def _holder(owner: dict[str, Any] | None) -> str:
    return "free" if owner is None else f"process {owner['pid']} on {owner['host']}, token {owner['token']}"


def _next(planned: Sequence[int], done: Sequence[int]) -> str:
    if not planned:
        return "batch 0 starts at the start file, or at startingOffsets"
    newest = planned[-1]
    if newest in done:
        return f"batch {newest + 1} is planned from the end of batch {newest}"
    return f"batch {newest} runs again with the records its entry names"


def _offsets(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    entries = snapshot.offsets()
    newest: OffsetFile | Damage | None = entries.get(max(entries, default=-1))
    for positions in newest.positions if isinstance(newest, OffsetFile) else ():
        for (topic, partition), span in sorted(positions.spans.items()):
            yield {
                "batch": max(entries),
                "topic": topic,
                "topic_id": positions.stream_ids.get(topic, ""),
                "partition": partition,
                "start": span.start,
                "end": span.end,
            }


def _span(log: dict[str, int | None]) -> str:
    return "no batch" if log["newest"] is None else f"batches {log['oldest']} to {log['newest']}"


def _grouped(names: Sequence[FileName]) -> Iterator[tuple[str, str]]:
    """Yield files and their meaning; the entries of one log, or the checksums of one folder, share a line."""
    for (folder, kind), group in groupby(
        sorted(names, key=lambda one: (one.key.rpartition("/")[0], one.kind, one.batch_id or 0)),
        key=lambda one: (one.key.rpartition("/")[0], one.kind),
    ):
        some = list(group)
        if len(some) == 1:
            yield some[0].key, MEANING[kind]
        elif some[0].batch_id is not None:
            yield f"{folder}/{some[0].batch_id}..{some[-1].batch_id} ({len(some)})", MEANING[kind]
        else:
            yield f"{folder}/ ({len(some)} files)", MEANING[kind]
