"""What Glue's log says of a bookmarked read, word for word where dashboards look for it (AWS blog on bookmarks)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from gluepot.connectors.files.source.hive import partition_values
from gluepot.connectors.files.source.plan import FolderPlan, Plan, Verdict

SOURCE, LISTER = "HadoopDataSource", "PartitionFilesListerUsingBookmark"
MOST_FOLDERS = 200
"""Folders that get lines of their own; the others are summed up."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line.

    Args:
        logger: Glue's name for it.
        is_warning: its level is WARNING, not INFO.
        text: the message.
    """

    logger: str
    is_warning: bool
    text: str


def log_lines(plan: Plan) -> Iterator[LogLine]:
    """Yield the lines of a plan: by folder, then what Glue would have left out."""
    for folder in plan.folders[:MOST_FOLDERS]:
        yield from _of_folder(folder)
    if further := plan.folders[MOST_FOLDERS:]:
        idle = sum(not folder.selected for folder in further)
        yield LogLine(SOURCE, is_warning=False, text=f"{len(further)} further partitions, {idle} without new files")
    counts = plan.counts
    if late := counts[Verdict.LATE]:
        yield LogLine(
            LISTER, is_warning=True, text=f"{late} late files are older than the last run's band; reading them"
        )
    if too_late := counts[Verdict.TOO_LATE]:
        text = f"{too_late} late files are older than lookBackMs allows and are not read; widen it to read them"
        yield LogLine(LISTER, is_warning=True, text=text)
    if deferred := sum(count for verdict, count in counts.items() if verdict.is_deferred):
        yield LogLine(LISTER, is_warning=False, text=f"{deferred} files are left for the next run")


def _of_folder(folder: FolderPlan) -> Iterator[LogLine]:
    values = json.dumps(dict(partition_values(folder.partition)), ensure_ascii=False)
    name = f"DynamicFramePartition({folder.folder})"
    if not folder.selected:
        text = f"Skipping Partition {values} has no new files detected @ {folder.folder}/ or path does not exist"
        yield LogLine(SOURCE, is_warning=True, text=text)
        return
    if folder.is_new:
        yield LogLine(LISTER, is_warning=False, text=f"Found new partition {name} with {folder.listed} files")
    else:
        share = f"processing {folder.selected / folder.listed:.2%} of {folder.listed} files in partition {name}"
        yield LogLine(LISTER, is_warning=False, text=f"After initial job bookmarks filter, {share}")
    share = f"processing {folder.read / folder.selected:.2%} of {folder.selected} files in partition {name}"
    yield LogLine(LISTER, is_warning=False, text=f"After final job bookmarks filter, {share}")
