"""Makes a read from a database a pipeline's input: selects new rows by the bookmark and divides them among tasks."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from gluepot.bookmarks.jobrun import Bookmarks, JobRun
from gluepot.bookmarks.ledger import Change
from gluepot.connectors.jdbc.keys import Key
from gluepot.connectors.jdbc.plan import JdbcPlan, Relation, plan, plan_range
from gluepot.connectors.jdbc.postgresql import JdbcSplit, PostgresqlRelation, PostgresqlSource, open_relation
from gluepot.connectors.jdbc.postgresql.snapshot import exported
from gluepot.connectors.jdbc.redshift_options import RedshiftOptions
from gluepot.connectors.jdbc.settings import JdbcReadSettings
from gluepot.connectors.jdbc.spark import SparkRelation
from gluepot.connectors.jdbc.sql import Sql
from gluepot.connectors.jdbc.state import state_of
from gluepot.core.errors import EtlError
from gluepot.core.logging import get_logger
from gluepot.core.storage import open_storage
from gluepot.engine.pipeline import FrameInput, SplitInput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = get_logger(__name__)


def jdbc_input(
    settings: JdbcReadSettings, ctx: str, run: JobRun | None, spark: SparkSession
) -> SplitInput | FrameInput:
    """Return the input of a read: all rows, or with bookmarks the new ones, which the run's commit remembers.

    Args:
        settings: settings from the script.
        ctx: `transformation_ctx`; a source without one has no bookmark.
        run: the job's run; None outside of a run.
        spark: the session that reads databases for which we have no driver of our own.

    Raises:
        ConfigError: a table, a column or a permission is missing.
        CheckpointError: the bookmark belongs to another table or key.
        TransientError: the server cannot be reached.
    """
    marks = run.bookmarks if run else None
    if settings.redshift is not None:
        return _unloaded(settings, settings.redshift, marks, ctx)
    if not settings.endpoint.is_arrow_native:
        relation = SparkRelation.open(spark, settings)
        return FrameInput(relation.frame(_conditions(settings, relation, marks, ctx)[0]))
    with _opened(settings, marks, ctx) as (native, snapshot):
        source = PostgresqlSource(settings.endpoint, native.source, native.columns, snapshot)
        conditions, bookmark = _conditions(settings, native, marks, ctx)
        return SplitInput(source, tuple(map(JdbcSplit, conditions)), source.schema, bookmark)


def _unloaded(settings: JdbcReadSettings, options: RedshiftOptions, marks: Bookmarks | None, ctx: str) -> SplitInput:
    """Return the input of a read from Redshift, which writes the rows to files now; they go when the process ends."""
    # Redshift's client is an extra, and is imported only when a script reads from Redshift.
    from gluepot.connectors.jdbc.redshift.relation import open_relation as open_redshift  # noqa: PLC0415
    from gluepot.connectors.jdbc.redshift.unloaded import UnloadedSource  # noqa: PLC0415

    folder = f"gluepot/unloaded/{uuid4().hex}"
    atexit.register(_remove, options.temp_dir, folder)
    with open_redshift(settings.endpoint, settings.relation) as relation:
        conditions, bookmark = _conditions(settings, relation, marks, ctx)
        files = relation.unload(conditions, options, folder)
        source = UnloadedSource(options.temp_dir, relation.columns)
    log.info("rows_unloaded", table=relation.name, files=len(files), bytes=sum(one.size_bytes for one in files))
    return SplitInput(source, tuple(files), source.schema, bookmark)


def _remove(temp_dir: str, folder: str) -> None:
    with suppress(EtlError):
        open_storage(temp_dir).delete_folder(folder)


def _conditions(
    settings: JdbcReadSettings, relation: Relation, marks: Bookmarks | None, ctx: str
) -> tuple[list[Sql], str]:
    """Return the condition of each task's rows, an empty one for all rows; and the name of the bookmark, or ``""``."""
    cuts = relation.cuts(settings.partitions)
    key = _bookmark_key(settings, relation, marks, ctx)
    if marks is None or key is None:
        return cuts or [Sql()], ""
    name = marks.next_read(ctx)
    made = _with_bookmark(settings, relation, key, marks, name)
    _report(made, ctx)
    return list(made.conditions(relation.quoted(key.names), cuts)), name


@contextmanager
def _opened(
    settings: JdbcReadSettings, marks: Bookmarks | None, ctx: str
) -> Iterator[tuple[PostgresqlRelation, str | None]]:
    """Open the table; with an overlap window, also export the snapshot that planning and tasks share.

    Without a shared snapshot, a row that becomes visible after planning would be read but not remembered, and the next
    run would read it again.
    """
    snapshot = None
    if marks is not None and ctx and settings.overlap is not None:
        snapshot = marks.until_end(exported(settings.endpoint))
    with open_relation(settings.endpoint, settings.relation, snapshot) as relation:
        yield relation, snapshot


def _bookmark_key(settings: JdbcReadSettings, relation: Relation, marks: Bookmarks | None, ctx: str) -> Key | None:
    if marks is None:
        return None
    if not ctx:
        log.warning("source_not_bookmarked", table=relation.name, hint="give it a transformation_ctx")
        return None
    names = settings.keys or relation.primary_key
    if not names:
        log.warning("source_not_bookmarked", table=relation.name, hint="it has no primary key; give jobBookmarkKeys")
        return None
    return relation.key(names, descending=settings.descending)


def _with_bookmark(settings: JdbcReadSettings, relation: Relation, key: Key, marks: Bookmarks, name: str) -> JdbcPlan:
    if marks.between:
        after, upto = (state_of(marks.bodies(name, at)) for at in (marks.between.after, marks.between.upto))
        made = plan_range(relation, relation.name, key, after, upto)
        marks.planned(name, made.digest, None)
    else:
        made = plan(relation, relation.name, key, state_of(marks.bodies(name)), settings.overlap)
        state = made.state(settings.description)
        marks.planned(name, made.digest, Change(state.to_body(), extends=False) if state else None)
    return made


def _report(made: JdbcPlan, ctx: str) -> None:
    log.info("rows_planned", ctx=ctx, table=made.relation, after=made.after, upto=made.upto, rows=made.rows)
    if made.late:
        log.warning(
            "late_rows",
            ctx=ctx,
            table=made.relation,
            rows=made.late_rows,
            read_again=made.reread_rows,
            first=made.late[0][0],
        )
