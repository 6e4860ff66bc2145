"""What `gluepot table` prints: JSON for programs, grids for people."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from rich.console import Group, RenderableType
from rich.text import Text

from gluepot.cli.output import print_wide
from gluepot.cli.output import table as table_of
from gluepot.commit.record import CommitRecord
from gluepot.connectors.values import SourceRange
from gluepot.tables import Table
from gluepot.tables.compact import Compacted
from gluepot.tables.coverage import Coverage
from gluepot.tables.evolution import ColumnHistory, type_text
from gluepot.tables.findings import newest
from gluepot.tables.verify import Verification

_MOST_RANGES = 4


@dataclass(frozen=True, slots=True)
class Report:
    """The output of a command in two forms.

    Args:
        plain: values for `json.dumps`.
        shown: the text for people.
    """

    plain: Any
    shown: RenderableType


def show(report: Report, output: Literal["text", "json"]) -> None:
    """Print a report."""
    if output == "json":
        print(json.dumps(report.plain))
        return
    print_wide(report.shown)


def files(table: Table) -> Report:
    """Return the files of a table."""
    plain = [
        {
            "batch": file.key.batch_id,
            "rows": file.rows,
            "size_bytes": file.size_bytes,
            "path": file.path,
            "query": file.key.query_id,
            "ctx": file.key.ctx,
            "generation": file.generation,
            "crc32": f"{file.crc32:08x}",
            "format": file.encoding["format"],
        }
        for file in table.files()
    ]
    rows, size_bytes = (sum(one[name] for one in plain) for name in ("rows", "size_bytes"))
    total = Text(f"{len(plain):,} files, {rows:,} rows, {size_bytes:,} bytes")
    return Report(plain, Group(_grid(plain, ("batch", "rows", "size_bytes", "path")), total))


def compacted(done: Sequence[Compacted]) -> Report:
    """Return what a compaction did; after a dry run, what it would do."""
    plain = [asdict(one) for one in done]
    if not plain:
        return Report(plain, Text("nothing to compact"))
    files, before, after = (sum(one[name] for one in plain) for name in ("files", "bytes_before", "bytes_after"))
    became = f"became {len(plain):,} of {after:,} bytes" if after else f"would become {len(plain):,}"
    total = Text(f"{files:,} files of {before:,} bytes {became}")
    return Report(plain, Group(_grid(plain, ("folder", "files", "rows", "bytes_before", "bytes_after")), total))


def history(commits: Sequence[CommitRecord]) -> Report:
    """Return what was published, in the given order.

    Args:
        commits: the commits of all generations.
    """
    live = {(commit.key, commit.generation) for commit in newest(sorted(commits, key=lambda one: one.generation))}
    plain = [
        {
            "time": _time(commit.committed_at_epoch_ms),
            "batch": commit.key.batch_id,
            "query": commit.key.query_id,
            "ctx": commit.key.ctx,
            "generation": commit.generation,
            "token": commit.token,
            "live": (commit.key, commit.generation) in live,
            "rows_in": commit.rows_in,
            "rows": commit.rows_out,
            "rejected": commit.rejected,
            "filtered": commit.rows_dropped,
            "files": len(commit.files),
            "ranges": [one.to_json() for one in commit.ranges],
        }
        for commit in commits
    ]
    shown = [
        {
            **one,
            "query": str(one["query"])[:8],
            "generation": f"{commit.generation}{_remark(commit, live=bool(one['live']))}",
            "rejected": sum(commit.rejected.values()),
            "ranges": _ranges_text(commit.ranges),
        }
        for one, commit in zip(plain, commits, strict=True)
    ]
    return Report(plain, _grid(shown, ("time", "query", "batch", "ctx", "generation", "rows", "rejected", "ranges")))


def schema(table: Table) -> Report:
    """Return the current columns of a table."""
    plain = [
        {"column": column.field.name, "type": type_text(column.field), "partition_key": column.is_key}
        for column in table.columns
    ]
    return Report(plain, _grid(plain, ("column", "type", "partition_key")))


def column_histories(histories: Sequence[ColumnHistory]) -> Report:
    """Return the batch in which each column appeared, and the batches that changed its type."""
    plain = [
        {
            "column": one.name,
            "types": [
                {
                    "type": seen.type,
                    "time": _time(seen.committed_at_epoch_ms),
                    "query": seen.key.query_id,
                    "batch": seen.key.batch_id,
                    "ctx": seen.key.ctx,
                }
                for seen in one.seen
            ],
        }
        for one in histories
    ]
    shown = [
        {
            "column": "" if at else one.name,
            "type": seen.type,
            "since": f"batch {seen.key.batch_id}",
            "query": seen.key.query_id[:8],
            "time": _time(seen.committed_at_epoch_ms),
        }
        for one in histories
        for at, seen in enumerate(one.seen)
    ]
    return Report(plain, _grid(shown, ("column", "type", "since", "query", "time")))


def verification(where: str, found: Verification) -> Report:
    """Return what a check of a table found."""
    plain = {"path": where, "clean": not found.findings, **asdict(found)}
    lines = [
        f"{where}: {found.commits:,} commits, {found.files:,} files, {found.size_bytes:,} bytes",
        f"{found.rows:,} rows, {found.rejected:,} rejected, {found.filtered:,} filtered"
        + (f", {found.left_out:,} malformed left out" if found.left_out else ""),
    ]
    if found.without_ranges:
        lines.append(f"{found.without_ranges:,} commits have no source ranges: only streams have them")
    lines += [
        f"{records:,} more rejected records of these batches lie in {root}, because their rows came through a"
        f" DataFrame; list them with `gluepot dlq list {root}`"
        for root, records in found.elsewhere.items()
    ]
    if found.unchecked:
        lines.append(
            f"{len(found.unchecked):,} files of rejected records lie in another folder; give it as --rejects-path"
        )
    if found.unfinished:
        lines.append(
            f"{len(found.unfinished):,} files belong to a publication, a compaction or a purge that is in progress or "
            "died; the next start of its job, or the next compaction or purge, completes or removes them"
        )
    verdict = "clean" if not found.findings else f"findings: {len(found.findings):,}"
    findings = [Text(f"{one.kind}: {one.message}", style="red") for one in found.findings]
    covered = _grid([_covered(one) for one in found.coverage], ("stream", "id", "shard", "ctx", "from", "to", "state"))
    style = "bold red" if findings else "bold green"
    return Report(plain, Group(*map(Text, lines), covered, *findings, Text(verdict, style=style)))


def verifications(checked: Iterable[tuple[str, Verification]]) -> Report:
    """Return what checks of several tables found, one after the other."""
    reports = [verification(where, found) for where, found in checked]
    return Report([one.plain for one in reports], Group(*(one.shown for one in reports)))


def _remark(commit: CommitRecord, *, live: bool) -> str:
    if commit.is_nothing:
        return " (nothing)"
    return "" if live else " (replaced)"


def _covered(covered: Coverage) -> dict[str, Any]:
    lane = covered.lane
    faults = [name for name, found in (("gaps", covered.gaps), ("overlaps", covered.overlaps)) if found]
    return {
        "stream": lane.stream,
        "id": lane.stream_id,
        "shard": lane.shard,
        "ctx": lane.ctx,
        "from": covered.start,
        "to": covered.end,
        "state": " and ".join(faults) or "whole",
    }


def _grid(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> RenderableType:
    """Return a table of rows; nothing if there are none."""
    return table_of(rows, columns, thousands=True) if rows else Text("")


def _time(epoch_ms: int) -> str:
    return f"{datetime.fromtimestamp(epoch_ms / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}" if epoch_ms else ""


def _ranges_text(ranges: Sequence[SourceRange]) -> str:
    if len(ranges) <= _MOST_RANGES:
        return ", ".join(f"{one.stream} {one.shard}: {one.start}-{one.end}" for one in ranges)
    positions: defaultdict[str, list[int]] = defaultdict(list)
    for one in ranges:
        positions[one.stream].append(one.end - one.start)
    return ", ".join(f"{stream}: {sum(each):,} in {len(each)} partitions" for stream, each in positions.items())
