"""Deletes old files of a path or a table, as `purge_s3_path` and `purge_table` do (docs/glue 1.3).

Files and folders whose names begin with `_` or `.` stay. No reader takes them for data; they contain the manifests of
jobs, and possibly a checkpoint. In a table that our jobs write, a record says which files were deleted
(`gluepot.tables.purging`), so that readers, checks and compactions do not miss them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gluepot.catalog.values import Table
from gluepot.connectors.files.partition_folders import DEFAULT_PARTITION
from gluepot.connectors.files.source.listing import ListingOptions, ListingStats, list_files
from gluepot.connectors.files.source.sql_predicate import SqlEvaluator, read_predicate
from gluepot.connectors.files.source.storage_classes import read_classes
from gluepot.connectors.files.source.table_settings import partition_roots
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError, EtlError, TransientError, did_you_mean
from gluepot.core.logging import get_logger
from gluepot.core.option_values import number
from gluepot.core.storage import canonical_url, open_storage
from gluepot.tables.purging import innermost, purge_files, table_folders

if TYPE_CHECKING:
    from gluepot.catalog.store import Catalog

RETENTION_HOURS = 168
_KNOWN = ("retentionPeriod", "partitionPredicate", "excludeStorageClasses", "manifestFilePath")
_AT_ONCE = 1_000

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PurgeOptions:
    """The options of a purge.

    Args:
        retention_hours: files younger than this stay; 0 deletes files of any age.
        predicate: a predicate over the partitions of a table; empty for all partitions.
        excluded_classes: storage classes whose files are left alone.
        manifest_path: folder for `Success.csv` and `Failed.csv`; None to write neither.
    """

    retention_hours: int = RETENTION_HOURS
    predicate: str = ""
    excluded_classes: frozenset[str] = frozenset()
    manifest_path: str | None = None

    @classmethod
    def from_glue(cls, options: Mapping[str, Any]) -> PurgeOptions:
        """Read Glue's options.

        Raises:
            ConfigError: an option is unknown, or its value is wrong.
        """
        for name in options:
            if name not in _KNOWN:
                raise ConfigError(
                    f"purge has no option {name!r}; use some of {', '.join(_KNOWN)}.{did_you_mean(name, _KNOWN)}"
                )
        hours = number(options, "retentionPeriod", least=0)
        return cls(
            retention_hours=RETENTION_HOURS if hours is None else hours,
            predicate=str(options.get("partitionPredicate") or ""),
            excluded_classes=read_classes(options.get("excludeStorageClasses")),
            manifest_path=options.get("manifestFilePath") or None,
        )


@dataclass(slots=True)
class Purged:
    """What a purge did.

    Args:
        deleted: URLs of the deleted files.
        failed: URLs of the files that could not be deleted.
        kept: number of files that stay on purpose.
    """

    deleted: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    kept: int = 0


@dataclass(frozen=True, slots=True)
class _Found:
    """The files of one folder.

    Args:
        folder: canonical URL.
        old: URLs of the files to delete.
        kept: number of files that stay because they are young or excluded.
    """

    folder: str
    old: Sequence[str]
    kept: int


def purge_path(path: str, options: PurgeOptions, clock: Clock, owner: str) -> Purged:
    """Delete the old files below a path.

    Args:
        path: a table, a part of a table, or a folder that our jobs do not write; it may contain several tables.
        options: which files to delete.
        clock: tells how old a file is.
        owner: a name that no other purge or compaction has, of letters and digits.

    Raises:
        ConfigError: the path cannot be listed.
        CheckpointError: a manifest of a table cannot be read; no file of that table is deleted.
        TransientError: the storage was away.
    """
    done = _delete_old([_old_files(path, options, clock)], clock, owner)
    _finish(done, options)
    return done


def purge_table(
    catalog: Catalog,
    table: Table,
    options: PurgeOptions,
    clock: Clock,
    owner: str,
    evaluator: SqlEvaluator | None = None,
) -> Purged:
    """Delete the old files of a table, and those of its partitions that are then empty.

    Args:
        catalog: the catalog of the table.
        table: a table of files.
        options: which files to delete.
        clock: tells how old a file is.
        owner: as in `purge_path`.
        evaluator: evaluates predicates that only Spark understands.

    Raises:
        ConfigError: a folder cannot be listed, or the predicate is not understood.
        CheckpointError: a manifest of the table cannot be read; nothing is deleted.
        TransientError: the storage or the catalog was away.
    """
    if not table.partition_keys:
        return purge_path(table.storage.location, options, clock, owner)
    wanted = read_predicate(options.predicate, evaluator) if options.predicate else None
    keys = [key.name.lower() for key in table.partition_keys]
    partitions = catalog.partitions(table)
    known = [
        {key: None if value == DEFAULT_PARTITION else value for key, value in zip(keys, one.values, strict=True)}
        for one in partitions
    ]
    if wanted:
        wanted.learn(known)
    found = [
        (one.values, _old_files(root.url, options, clock))
        for one, root, values in zip(partitions, partition_roots(table, partitions), known, strict=True)
        if not wanted or wanted.matches(values)
    ]
    done = _delete_old([one for _, one in found], clock, owner)
    deleted = set(done.deleted)
    empty = [values for values, one in found if not one.kept and deleted.issuperset(one.old)]
    catalog.drop_partitions(table, empty)
    _finish(done, options)
    return done


def _old_files(path: str, options: PurgeOptions, clock: Clock) -> _Found:
    oldest_kept_us = int((clock.epoch() - options.retention_hours * 3600) * 1_000_000)
    listing = ListingOptions((path,), recurse=True, excluded_classes=options.excluded_classes)
    stats, young, old = ListingStats(), 0, []
    for file in list_files(listing, stats):
        if options.retention_hours and file.mtime_us > oldest_kept_us:
            young += 1
        else:
            old.append(file.url)
    url = canonical_url(path)
    folder = url.rpartition("/")[0] if old == [url] else url  # the path may be that of a single file
    return _Found(folder, old, young + stats.excluded)


def _delete_old(found: Sequence[_Found], clock: Clock, owner: str) -> Purged:
    """Delete the old files of folders; for files of our tables, also write the tables' records."""
    done = Purged(kept=sum(one.kept for one in found))
    tables = table_folders(one.folder for one in found)
    in_table: dict[str, list[str]] = {table: [] for table in sorted(tables)}
    for one in found:
        elsewhere: list[str] = []
        for url in one.old:
            table = innermost(url, tables)
            (elsewhere if table is None else in_table[table]).append(url)
        _delete(one.folder, [url[len(one.folder) + 1 :] for url in elsewhere], done)
    for table, urls in in_table.items():
        _delete_from_table(table, urls, done, clock, owner)
    return done


def _delete_from_table(table: str, urls: Sequence[str], done: Purged, clock: Clock, owner: str) -> None:
    paths = [url[len(table) + 1 :] for url in urls]
    try:
        stay = purge_files(open_storage(table), paths, clock, owner, lambda doomed: _delete(table, doomed, done))
    except (ConfigError, TransientError) as error:
        log.warning("files_not_deleted", root=table, files=len(urls), reason=str(error))
        done.failed += set(urls) - {*done.deleted, *done.failed}
    else:
        done.kept += len(stay)


def _delete(root: str, paths: Sequence[str], done: Purged) -> bool:
    """Delete files below a folder; return whether all of them are gone."""
    failed = len(done.failed)
    for first in range(0, len(paths), _AT_ONCE):
        together = paths[first : first + _AT_ONCE]
        urls = [f"{root}/{path}" for path in together]
        try:
            open_storage(root).delete(together)
        except EtlError as error:
            log.warning("files_not_deleted", root=root, files=len(together), reason=str(error))
            done.failed += urls
        else:
            done.deleted += urls
    return len(done.failed) == failed


def _finish(done: Purged, options: PurgeOptions) -> None:
    log.info("purged", deleted=len(done.deleted), failed=len(done.failed), kept=done.kept)
    if options.manifest_path:
        storage = open_storage(options.manifest_path)
        storage.put("Success.csv", _csv(done.deleted))
        storage.put("Failed.csv", _csv(done.failed))


def _csv(urls: Iterable[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([url] for url in urls)
    return text.getvalue().encode()
