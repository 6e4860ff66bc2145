"""Deleting old files of a path or a table, as `purge_s3_path` and `purge_table` do (glue-api 1.3).

Names that begin with `_` or `.` stay, as no reader takes them for data: what jobs have published is noted there, and a
checkpoint may lie there. A table that our jobs write has the deleted files in its manifests still; `gluepot table
verify` names them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog.values import Table
from connectors.files.formats.options import number
from connectors.files.listing import ListingOptions, ListingStats, list_files
from connectors.files.predicate import parse_predicate
from connectors.files.storage_classes import read_classes
from connectors.files.table_settings import partition_roots
from etlcore.clock import Clock
from etlcore.errors import ConfigError, EtlError, did_you_mean
from etlcore.logging import get_logger
from etlcore.storage import canonical_url, open_storage

if TYPE_CHECKING:
    from catalog.store import Catalog

RETENTION_HOURS = 168
_KNOWN = ("retentionPeriod", "partitionPredicate", "excludeStorageClasses", "manifestFilePath")
_AT_ONCE = 1_000

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PurgeOptions:
    """What a script may say about it.

    Args:
        retention_hours: younger files stay; 0 for none.
        predicate: over the partitions of a table; empty for all.
        excluded_classes: of storage, that are left alone.
        manifest_path: folder for `Success.csv` and `Failed.csv`; None for none.
    """

    retention_hours: int = RETENTION_HOURS
    predicate: str = ""
    excluded_classes: frozenset[str] = frozenset()
    manifest_path: str | None = None

    @classmethod
    def from_glue(cls, options: Mapping[str, Any]) -> PurgeOptions:
        """Read Glue's options.

        Raises:
            ConfigError: one is not known, or not understood.
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
        deleted: URLs.
        failed: URLs.
        kept: files that stay on purpose.
    """

    deleted: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    kept: int = 0


def purge_path(path: str, options: PurgeOptions, clock: Clock) -> Purged:
    """Delete the old files below a path.

    Raises:
        ConfigError: the path cannot be listed.
        TransientError: the storage was away.
    """
    done = _purge(path, options, clock)
    _finish(done, options)
    return done


def purge_table(catalog: Catalog, table: Table, options: PurgeOptions, clock: Clock) -> Purged:
    """Delete the old files of a table, and its partitions that have no file any more.

    Raises:
        ConfigError: a folder cannot be listed, or the predicate is not understood.
        TransientError: the storage or the catalog was away.
    """
    if not table.partition_keys:
        return purge_path(table.storage.location, options, clock)
    wanted = parse_predicate(options.predicate) if options.predicate else None
    keys = [key.name for key in table.partition_keys]
    done, empty = Purged(), []
    partitions = catalog.partitions(table)
    for one, root in zip(partitions, partition_roots(table, partitions), strict=True):
        if wanted and not wanted.matches(dict(zip(keys, one.values, strict=True))):
            continue
        found = _purge(root.url, options, clock)
        if not found.kept and not found.failed:
            empty.append(one.values)
        done.deleted += found.deleted
        done.failed += found.failed
        done.kept += found.kept
    catalog.drop_partitions(table, empty)
    _finish(done, options)
    return done


def _purge(path: str, options: PurgeOptions, clock: Clock) -> Purged:
    oldest_kept_us = int((clock.epoch() - options.retention_hours * 3600) * 1_000_000)
    listing = ListingOptions((path,), recurse=True, excluded_classes=options.excluded_classes)
    stats, done, doomed = ListingStats(), Purged(), []
    for file in list_files(listing, stats):
        if options.retention_hours and file.mtime_us > oldest_kept_us:
            done.kept += 1
        else:
            doomed.append(file.url)
    done.kept += stats.excluded
    for first in range(0, len(doomed), _AT_ONCE):
        _delete(canonical_url(path), doomed[first : first + _AT_ONCE], done)
    return done


def _delete(root: str, urls: Sequence[str], done: Purged) -> None:
    try:
        open_storage(root).delete([url[len(root) :].strip("/") for url in urls])
    except EtlError as error:
        log.warning("files_not_deleted", root=root, files=len(urls), reason=str(error))
        done.failed += urls
    else:
        done.deleted += urls


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
