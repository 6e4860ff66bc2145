"""Makes a read of files a pipeline's input: lists files, selects new ones by the bookmark, groups them into tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from gluepot.bookmarks.jobrun import Bookmarks, JobRun
from gluepot.bookmarks.last_schema import last_schema
from gluepot.bookmarks.ledger import Change
from gluepot.connectors.files.source.grouping import grouped
from gluepot.connectors.files.source.listing import ListingStats, list_files
from gluepot.connectors.files.source.log_lines import log_lines
from gluepot.connectors.files.source.plan import FolderPlan, Plan, plan, plan_range
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.connectors.files.source.versions import FilesState, FileVersion, state_body, state_of
from gluepot.core.clock import Clock
from gluepot.core.errors import EtlError
from gluepot.core.logging import get_logger
from gluepot.core.plural import counted
from gluepot.core.storage import open_storage
from gluepot.engine.pipeline import SplitInput

log = get_logger(__name__)


def files_input(settings: FileReadSettings, ctx: str, run: JobRun | None, parallelism: int, clock: Clock) -> SplitInput:
    """Return the input of a read: all files, or with bookmarks the new ones, which the run's commit remembers.

    Args:
        settings: settings from the script.
        ctx: `transformation_ctx`; a source without one has no bookmark.
        run: the job's run; None outside of a run.
        parallelism: number of tasks that run at the same time.
        clock: gives the start time of the read.

    Raises:
        ConfigError: a path cannot be listed.
        TransientError: the storage could not be reached.
    """
    started_us = int(clock.epoch() * 1_000_000)
    stats = ListingStats()
    listing = list_files(settings.listing, stats, lambda files: log.info("listing", files=files, ctx=ctx))
    marks = run.bookmarks if run else None
    if marks and not ctx:
        log.warning("source_not_bookmarked", paths=settings.listing.paths, hint="give it a transformation_ctx")
    name, schema = "", None
    if marks and ctx:
        name = marks.next_read(ctx)
        made = _with_bookmark(settings, marks, name, listing, started_us)
        if not made.files:
            schema = last_schema(marks.bodies(name))
        _tell(replace(made, folders=(*made.folders, *(FolderPlan(one.url, one.under) for one in stats.empty))))
    else:
        made = plan(listing, FilesState(), settings.plan, started_us)
    _report(settings, made, stats)
    if run and run.temp_dir and ctx:
        _write_listing(run.temp_dir, run, ctx, made)
    groups = grouped(made.files, settings.groups, parallelism, settings.source.splits)
    return SplitInput(replace(settings.source, has_bookmark=bool(name)), groups, schema, name)


def _with_bookmark(
    settings: FileReadSettings, marks: Bookmarks, name: str, listing: Iterator[FileVersion], started_us: int
) -> Plan:
    if marks.between:
        after, upto = (state_of(marks.bodies(name, at)) for at in (marks.between.after, marks.between.upto))
        made = plan_range(listing, after, upto)
        marks.planned(name, made.digest, None)
    else:
        made = plan(listing, state_of(marks.bodies(name)), settings.plan, started_us)
        change = Change(state_body(made.files, started_us, settings.description)) if made.files else None
        marks.planned(name, made.digest, change)
    return made


def _tell(made: Plan) -> None:
    for line in log_lines(made):
        of_glue = get_logger(line.logger)
        (of_glue.warning if line.is_warning else of_glue.info)(line.text)


def _report(settings: FileReadSettings, made: Plan, stats: ListingStats) -> None:
    log.info("files_planned", listed=stats.files, read=len(made.files), size_bytes=made.size_bytes)
    for path in () if stats.not_descended and not stats.unmatched else stats.without_files:
        hint = "check the path"
        if stats.unmatched:
            lacking = counted(stats.unmatched, "file")
            hint = f"{lacking} without a partition column that push_down_predicate names; correct the name"
        elif left_out := stats.hidden + stats.excluded:
            hint = (
                f"{left_out} files were skipped because of exclusions, storage classes, or names that begin with _ or ."
            )
        log.warning("no_files_found", path=path, hint=hint)
    if stats.not_descended:
        folders = stats.not_descended
        log.warning("folders_not_read", first=folders, paths=settings.listing.paths, hint="set recurse to read them")


def _write_listing(temp_dir: str, run: JobRun, ctx: str, made: Plan) -> None:
    """Write the list of files where Glue writes it (AWS blog on bookmarks); the job does not depend on this list."""
    by_folder = groupby(sorted(made.files, key=lambda one: (one.folder, one.name)), key=lambda one: one.folder)
    lists = [{"path": folder, "files": [file.url for file in files]} for folder, files in by_folder]
    key = f"partitionlisting/{run.name}/{run.run_id}/{ctx}.input-files.json"
    try:
        open_storage(temp_dir).put(key, json.dumps(lists, ensure_ascii=False, indent=1).encode())
    except EtlError as error:
        log.warning("file_list_not_written", temp_dir=temp_dir, error=str(error))
