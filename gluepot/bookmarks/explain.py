"""What the next run of a job would read, from the ledger alone: the options of a read are kept with its bookmark."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from batch.ledger import Ledger
from catalog.connect import catalog_url, open_catalog
from connectors.files.listing import ListingStats, list_files
from connectors.files.plan import Plan, plan
from connectors.files.settings import FileReadSettings
from connectors.files.table_settings import table_read
from connectors.files.versions import KIND, FileVersion, read_body, state_of
from etlcore.clock import Clock
from etlcore.errors import ConfigError
from gluepot.bookmarks.streams import is_stream, place_text
from streaming.mirror import StreamMark


@dataclass(frozen=True, slots=True)
class Summary:
    """A bookmark in short.

    Args:
        ctx: `transformation_ctx`.
        kind: of source.
        files: versions of files in it.
        size_bytes: of these.
        paths: of the last run that read something; of a stream its checkpoint.
        place: of a stream, where its next batch begins.
    """

    ctx: str
    kind: str
    files: int
    size_bytes: int
    paths: list[str]
    place: str | None = None


def summary(ctx: str, bodies: Sequence[str]) -> Summary:
    """Return a bookmark in short; of a kind this version does not know only that."""
    kind = kind_of(bodies)
    if is_stream(bodies):
        mark = StreamMark.from_body(bodies[-1])
        return Summary(ctx, kind, 0, 0, [mark.checkpoint], place_text(mark))
    if kind != KIND:
        return Summary(ctx, kind, 0, 0, [])
    read = [read_body(body) for body in bodies]
    files = [file for found, _, _ in read for file in found]
    paths = read[-1][2]["options"]["paths"] if read and read[-1][2] else []
    return Summary(ctx, kind, len(files), sum(file.size_bytes for file in files), paths)


def kind_of(bodies: Sequence[str]) -> str:
    """Return the kind of source that a bookmark belongs to; `empty` after a reset."""
    return str(json.loads(bodies[-1]).get("kind", "unknown")) if bodies else "empty"


def next_plan(ledger: Ledger, job: str, ctx: str, clock: Clock) -> Plan:
    """Plan the next run; every file is in it with its verdict.

    Raises:
        ConfigError: no such job or ctx, or no run has saved how the ctx reads.
    """
    at = ledger.job(job).state
    described = [read_body(change.body)[2] for change in ledger.history(job, ctx) if _is_files(change.body)]
    if not described:
        known = ", ".join(ledger.contexts(job, at)) or "none"
        raise ConfigError(f"Job {job!r} has not read files as ctx {ctx!r} yet; its bookmarks are {known}.")
    settings = _settings(described[0], clock)
    state = state_of(ledger.state(job, ctx, at))
    listing = list_files(settings.listing, ListingStats())
    return plan(listing, state, settings.plan, int(clock.epoch() * 1_000_000), keep_judged=True)


def _settings(described: Mapping[str, Any], clock: Clock) -> FileReadSettings:
    """Return the settings of a read; of a table with the partitions that it has now."""
    if "table" not in described:
        return FileReadSettings.from_description(described)
    of = described["table"]
    with closing(open_catalog(catalog_url(os.environ), clock)) as catalog:
        table = catalog.table(of["database"], of["name"])
        return table_read(table, catalog.partitions(table), of["options"], described["predicate"]).settings


def files_between(ledger: Ledger, job: str, ctx: str, after: int, upto: int) -> list[FileVersion]:
    """Return what was read after one state, up to another."""
    before = state_of(ledger.state(job, ctx, after))
    found = [file for body in ledger.state(job, ctx, upto) for file in read_body(body)[0]]
    return [file for file in found if not before.holds(file)]


def _is_files(body: str) -> bool:
    return bool(body) and kind_of([body]) == KIND
