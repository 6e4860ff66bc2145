"""The files of a data set: below its paths, without hidden and excluded ones, only in folders that can match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from connectors.files.hive import is_partition, partition_values
from connectors.files.predicate import Predicate
from connectors.files.versions import FileVersion
from etlcore.storage import Entry, SourceStorage, canonical_url, open_source

_REPORT_EVERY = 50_000


@dataclass(frozen=True, slots=True)
class ListingOptions:
    """What to list.

    Args:
        paths: folders or files.
        recurse: descend into every folder; otherwise only into partitions, named `key=value`.
        exclusions: see `compile_globs`.
        predicate: over partition columns.
    """

    paths: Sequence[str]
    recurse: bool = False
    exclusions: re.Pattern[str] | None = None
    predicate: Predicate | None = None


@dataclass(slots=True)
class ListingStats:
    """What a listing met; grows while it is drawn.

    Args:
        files: yielded.
        hidden: files left out because a name begins with `_` or `.`, as in Hadoop.
        excluded: files left out by a glob.
        not_matching: folders left out by the predicate.
        not_descended: folders left out because `recurse` is off; the first ten.
    """

    files: int = 0
    hidden: int = 0
    excluded: int = 0
    not_matching: int = 0
    not_descended: list[str] = field(default_factory=list)


def list_files(
    options: ListingOptions, stats: ListingStats, progress: Callable[[int], None] = lambda _: None
) -> Iterator[FileVersion]:
    """Yield every file once, also where paths overlap.

    With a predicate, folders are listed level by level and those that cannot match are never asked for; without one
    a whole tree is listed at once where that takes fewer requests.

    Args:
        options: what to list.
        stats: counted up.
        progress: called with the number of files now and then.

    Raises:
        ConfigError: a path is of a kind that cannot be listed, or its bucket may not be.
        TransientError: the storage was away.
    """
    done: list[str] = []
    for root in sorted({canonical_url(path) for path in options.paths}):
        single = _single(root)
        if not any(_covers(earlier, single.root if single else root, options) for earlier in done):
            for file in [single] if single else _below(root, options, stats):
                stats.files += 1
                if stats.files % _REPORT_EVERY == 0:
                    progress(stats.files)
                yield file
        if not single:
            done.append(root)


def _covers(earlier: str, folder: str, options: ListingOptions) -> bool:
    """Tell whether listing an earlier path has listed a folder, too."""
    if not f"{folder}/".startswith(f"{earlier}/"):
        return False
    between = folder[len(earlier) :].strip("/")
    return options.recurse or not between or all(map(is_partition, between.split("/")))


def _below(root: str, options: ListingOptions, stats: ListingStats) -> Iterator[FileVersion]:
    storage = open_source(root)
    walk = storage.tree("") if _is_flat(storage, options) else _pruned(storage, "", options, stats)
    for entry in walk:
        if _wanted(root, entry, options, stats):
            yield _version(root, entry)


def _is_flat(storage: SourceStorage, options: ListingOptions) -> bool:
    """Tell whether listing the whole tree asks for nothing in vain."""
    if not storage.lists_trees or options.predicate:
        return False
    return options.recurse or all(is_partition(name) for name in storage.level("").folders)


def _single(root: str) -> FileVersion | None:
    """Return the file that a path names itself."""
    parent, slash, name = root.rpartition("/")
    if not (slash and parent) or parent == "s3:/":
        return None
    entry = open_source(parent).entry(name)
    return _version(parent, entry) if entry else None


def _version(root: str, entry: Entry) -> FileVersion:
    at = f"{root}/{entry.folder}" if entry.folder else root
    return FileVersion(root, at, entry.name, entry.size_bytes, entry.mtime_us, entry.etag)


def _pruned(storage: SourceStorage, folder: str, options: ListingOptions, stats: ListingStats) -> Iterator[Entry]:
    level = storage.level(folder)
    yield from level.files
    for name in level.folders:
        below = f"{folder}/{name}" if folder else name
        if _is_hidden(name):
            continue
        if not (options.recurse or is_partition(name)):
            stats.not_descended.append(below) if len(stats.not_descended) < 10 else None
            continue
        if options.predicate and not options.predicate.may_match(_known(below)):
            stats.not_matching += 1
            continue
        yield from _pruned(storage, below, options, stats)


def _wanted(root: str, entry: Entry, options: ListingOptions, stats: ListingStats) -> bool:
    if any(map(_is_hidden, entry.key.split("/"))):
        stats.hidden += 1
        return False
    if not (options.recurse or all(map(is_partition, entry.folder.split("/"))) or not entry.folder):
        return False
    excluded = options.exclusions
    if excluded and (excluded.search(entry.key) or excluded.match(f"{root}/{entry.key}")):
        stats.excluded += 1
        return False
    return options.predicate is None or options.predicate.matches(_known(entry.folder))


def _known(folder: str) -> dict[str, str | None]:
    return {name.lower(): value for name, value in partition_values(folder)}


def _is_hidden(name: str) -> bool:
    return name.startswith(("_", ".")) and not is_partition(name)
