"""What the next run of a job would read, from the ledger alone: the options of a read are kept with its bookmark."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from awsglue.jdbc_connection import read_settings
from gluepot.bookmarks import cursor_input as cursor
from gluepot.bookmarks.ledger import Ledger
from gluepot.catalog.connect import catalog_url, open_catalog
from gluepot.cli.bookmarks.streams import is_stream, place_text
from gluepot.connectors.files.source.listing import ListingStats, list_files
from gluepot.connectors.files.source.plan import Plan, plan
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.connectors.files.source.table_settings import table_read
from gluepot.connectors.files.source.versions import KIND, FileVersion, read_body, state_of
from gluepot.connectors.jdbc import state as jdbc
from gluepot.connectors.jdbc.plan import JdbcPlan
from gluepot.connectors.jdbc.plan import plan as plan_rows
from gluepot.connectors.jdbc.postgresql import open_relation
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError
from gluepot.streaming.query.ledger_positions import StreamMark


@dataclass(frozen=True, slots=True)
class Summary:
    """A bookmark in short.

    Args:
        ctx: `transformation_ctx`.
        kind: of source.
        files: versions of files in it.
        size_bytes: of these.
        paths: of the last run that read something; of a database its table or query, of a stream its checkpoint.
        position: how far a source was read that has one place instead of files; empty for files.
    """

    ctx: str
    kind: str
    files: int
    size_bytes: int
    paths: list[str]
    position: str = ""


def summary(ctx: str, bodies: Sequence[str]) -> Summary:
    """Return a bookmark in short; of a kind this version does not know only that."""
    kind = kind_of(bodies)
    if is_stream(bodies):
        mark = StreamMark.from_body(bodies[-1])
        return Summary(ctx, kind, 0, 0, [mark.checkpoint], place_text(mark))
    match kind:
        case jdbc.KIND if (state := jdbc.state_of(bodies)) is not None:
            return Summary(ctx, kind, 0, 0, [state.relation], state.position)
        case cursor.KIND:
            return Summary(ctx, kind, 0, 0, [], json.dumps(cursor.cursor_of(bodies), ensure_ascii=False))
        case other if other != KIND:
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


def next_rows(ledger: Ledger, job: str, ctx: str) -> JdbcPlan:
    """Plan the next run's read of a database, which is asked now; a password of the script's is not known here.

    Raises:
        ConfigError: no such job or ctx, or the database refuses, for one because PGPASSWORD is not set.
        TransientError: the database is away.
    """
    state = jdbc.state_of(ledger.state(job, ctx, ledger.job(job).state))
    described = state or jdbc.state_of([change.body for change in ledger.history(job, ctx) if change.body][:1])
    assert described is not None
    settings = read_settings(described.source)
    with open_relation(settings.endpoint, settings.relation) as relation:
        return plan_rows(relation, relation.name, described.key, state, settings.overlap)


def kind_read(ledger: Ledger, job: str, ctx: str) -> str:
    """Return the kind of source that a ctx last read, also if it was reset since; `empty` if it never read."""
    return kind_of([change.body for change in ledger.history(job, ctx) if change.body][:1])


def files_between(ledger: Ledger, job: str, ctx: str, after: int, upto: int) -> list[FileVersion]:
    """Return what was read after one state, up to another."""
    before = state_of(ledger.state(job, ctx, after))
    found = [file for body in ledger.state(job, ctx, upto) for file in read_body(body)[0]]
    return [file for file in found if not before.holds(file)]


def _is_files(body: str) -> bool:
    return bool(body) and kind_of([body]) == KIND
