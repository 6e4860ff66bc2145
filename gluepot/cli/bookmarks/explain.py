"""Works out what the next run of a job would read. It needs no script: a bookmark includes the options of its read."""

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
    """A short description of a bookmark.

    Args:
        ctx: `transformation_ctx`.
        kind: kind of the source.
        files: number of file versions in the bookmark.
        size_bytes: total size of these files.
        paths: the paths that the last run read; for a database its table or query, for a stream its checkpoint.
        position: how far the source was read, if it has a position instead of files; empty for files.
    """

    ctx: str
    kind: str
    files: int
    size_bytes: int
    paths: list[str]
    position: str = ""


def summary(ctx: str, bodies: Sequence[str]) -> Summary:
    """Return a short description of a bookmark; only its kind if this version does not know that kind."""
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
    """Plan the next run; the plan contains every listed file with its verdict.

    Raises:
        ConfigError: the job or ctx is unknown, or no run has saved how the ctx reads.
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
    """Return the settings of a read; for a table of the catalog, with its current partitions."""
    if "table" not in described:
        return FileReadSettings.from_description(described)
    of = described["table"]
    with closing(open_catalog(catalog_url(os.environ), clock)) as catalog:
        table = catalog.table(of["database"], of["name"])
        return table_read(table, catalog.partitions(table), of["options"], described["predicate"]).settings


def next_rows(ledger: Ledger, job: str, ctx: str) -> JdbcPlan:
    """Plan the next run's read of a database by asking that database now.

    A password that only the script knows is not available here.

    Raises:
        ConfigError: the job or ctx is unknown, or the database refuses, for example because PGPASSWORD is not set.
        TransientError: the database cannot be reached.
    """
    state = jdbc.state_of(ledger.state(job, ctx, ledger.job(job).state))
    described = state or jdbc.state_of([change.body for change in ledger.history(job, ctx) if change.body][:1])
    assert described is not None
    settings = read_settings(described.source)
    with open_relation(settings.endpoint, settings.relation) as relation:
        return plan_rows(relation, relation.name, described.key, state, settings.overlap)


def kind_read(ledger: Ledger, job: str, ctx: str) -> str:
    """Return the kind of source that a ctx last read, even if it was reset since; `empty` if it never read."""
    return kind_of([change.body for change in ledger.history(job, ctx) if change.body][:1])


def files_between(ledger: Ledger, job: str, ctx: str, after: int, upto: int) -> list[FileVersion]:
    """Return the files that were read after state `after`, up to state `upto`."""
    before = state_of(ledger.state(job, ctx, after))
    found = [file for body in ledger.state(job, ctx, upto) for file in read_body(body)[0]]
    return [file for file in found if not before.holds(file)]


def _is_files(body: str) -> bool:
    return bool(body) and kind_of([body]) == KIND
