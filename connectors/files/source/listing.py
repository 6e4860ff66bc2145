"""The files of a data set: below its paths, without hidden and excluded ones, only in folders that can match."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from gluepot.connectors.files.source.globs import Globs
from gluepot.connectors.files.source.hive import is_hidden, is_partition, partition_values
from gluepot.connectors.files.source.sql_predicate import PartitionPredicate
from gluepot.connectors.files.source.storage_classes import keys_of_classes
from gluepot.connectors.files.source.versions import FileVersion
from gluepot.connectors.files.source.wildcards import has_wildcards, is_literal, matches
from gluepot.core.storage import Entry, SourceStorage, canonical_url, open_source

_REPORT_EVERY = 50_000
_MANY_PARTITIONS = 10


@dataclass(frozen=True, slots=True)
class Root:
    """A folder or a file that a data set begins at.

    Args:
        url: canonical.
        under: what a catalog says of a partition's folder, whatever its name, see `partition_folders.partition_path`.
        file: the entry of a file that wildcards have found; its folder is empty.
    """

    url: str
    under: str = ""
    file: Entry | None = None


@dataclass(frozen=True, slots=True)
class ListingOptions:
    """What to list.

    Args:
        paths: folders or files, also with wildcards, see `wildcards`.
        partitions: the folders of a catalog's partitions; where there are keys, instead of paths.
        recurse: descend into every folder; otherwise only into partitions, named `key=value`.
        exclusions: see `compile_globs`.
        predicate: over partition columns.
        excluded_classes: storage classes of S3 whose objects are left out.
    """

    paths: Sequence[str]
    partitions: Sequence[Root] | None = None
    recurse: bool = False
    exclusions: Globs | None = None
    predicate: PartitionPredicate | None = None
    excluded_classes: frozenset[str] = frozenset()


@dataclass(slots=True)
class ListingStats:
    """What a listing met; grows while it is drawn.

    Args:
        files: yielded.
        hidden: files left out because of their names, see `is_hidden`.
        excluded: files left out by a glob or by their storage class.
        not_matching: folders left out by the predicate.
        unmatched: files left out by it, for their folder lacks a partition column that it asks for.
        not_descended: folders left out because `recurse` is off; the first ten.
        empty: partitions of a catalog with no file in them.
        without_files: paths of the read with no file in them; they may not exist.
    """

    files: int = 0
    hidden: int = 0
    excluded: int = 0
    not_matching: int = 0
    unmatched: int = 0
    not_descended: list[str] = field(default_factory=list)
    empty: list[Root] = field(default_factory=list)
    without_files: list[str] = field(default_factory=list)


def list_files(
    options: ListingOptions, stats: ListingStats, progress: Callable[[int], None] = lambda _: None
) -> Iterator[FileVersion]:
    """Yield every file once, also where paths overlap.

    With a predicate, folders are listed level by level and those that cannot match are never asked for; without one
    a whole tree is listed at once where that takes fewer requests, also that of a table with its many partitions.

    Args:
        options: what to list.
        stats: counted up.
        progress: called with the number of files now and then.

    Raises:
        ConfigError: a path is of a kind that cannot be listed, or its bucket may not be.
        TransientError: the storage was away.
    """
    roots = _roots(options)
    for file in _of_one_tree(roots, options, stats) if _share_a_tree(roots, options) else _each(roots, options, stats):
        stats.files += 1
        if stats.files % _REPORT_EVERY == 0:
            progress(stats.files)
        yield file


def _each(roots: Iterable[Root], options: ListingOptions, stats: ListingStats) -> Iterator[FileVersion]:
    done: set[str] = set()
    left_out = cache(lambda folder: keys_of_classes(folder, options.excluded_classes))
    for root in roots:
        single = None if root.under else _single(root)
        if single and root.file and (_is_excluded(single, options) or single.name in left_out(single.root)):
            stats.excluded += 1
            continue
        if _is_covered(single.root if single else root.url, done, options):
            continue
        before = stats.files
        yield from [single] if single else _below(root, options, stats)
        if not single:
            done.add(root.url)
        if stats.files == before and root.under:
            stats.empty.append(root)
        elif stats.files == before:
            stats.without_files.append(root.url)


def _share_a_tree(roots: Sequence[Root], options: ListingOptions) -> bool:
    """Tell whether the partitions of a table are listed by fewer requests all at once."""
    if options.partitions is None or options.predicate or len(roots) < _MANY_PARTITIONS:
        return False
    table = canonical_url(options.paths[0])
    return open_source(table).lists_trees and all(root.url.startswith(f"{table}/") for root in roots)


def _of_one_tree(roots: Sequence[Root], options: ListingOptions, stats: ListingStats) -> Iterator[FileVersion]:
    """Yield the files of partitions out of the listing of their table; folders of no partition are left out."""
    table = canonical_url(options.paths[0])
    in_excluded_class = keys_of_classes(table, options.excluded_classes)
    by_folder = {root.url[len(table) + 1 :]: root for root in roots}
    seen: set[Root] = set()
    folder: _Folder | None = None
    for entry in open_source(table).tree(""):
        top = next((above for above in _ancestors(entry.folder) if above in by_folder), None)
        if top is None:
            continue
        root, inside = by_folder[top], entry._replace(folder=entry.folder[len(top) :].strip("/"))
        if folder is None or folder.root is not root or folder.inside != inside.folder:
            folder = _folder(root, inside.folder, options)
        if not _wanted(folder, inside, options, stats):
            continue
        if in_excluded_class and entry.key in in_excluded_class:
            stats.excluded += 1
            continue
        seen.add(root)
        yield _version(folder, inside)
    stats.empty += [root for root in roots if root not in seen]


def _ancestors(folder: str) -> Iterator[str]:
    """Yield a folder and those it lies in, innermost first."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def _roots(options: ListingOptions) -> Sequence[Root]:
    """Return where to begin, each folder before those inside of it."""
    if options.partitions is None:
        urls = {canonical_url(path) for path in options.paths}
        return sorted({root.url: root for url in urls for root in _of_path(url)}.values(), key=lambda root: root.url)
    wanted = options.predicate
    if wanted:
        wanted.learn(_known(root.under) for root in options.partitions)
    matching = (root for root in options.partitions if not wanted or wanted.may_match(_known(root.under)))
    return sorted({root.url: root for root in matching}.values(), key=lambda root: root.url)


def _of_path(url: str) -> Iterator[Root]:
    """Yield where a path of the script begins; itself where wildcards find nothing."""
    if not has_wildcards(url) or is_literal(url):
        yield Root(url)
        return
    roots = [Root(f"{one.folder}/{one.file.name}" if one.file else one.folder, file=one.file) for one in matches(url)]
    yield from roots or [Root(url)]


def _is_excluded(file: FileVersion, options: ListingOptions) -> bool:
    excluded = options.exclusions
    return bool(excluded and (excluded.search(file.name) or excluded.match(file.url)))


def _is_covered(folder: str, done: Collection[str], options: ListingOptions) -> bool:
    """Tell whether listing an earlier path has listed a folder, too."""
    above, between = folder, ""
    while above:
        if above in done and (options.recurse or all(map(is_partition, between.split("/"))) or not between):
            return True
        above, _, name = above.rpartition("/")
        between = f"{name}/{between}".rstrip("/")
    return False


def _below(root: Root, options: ListingOptions, stats: ListingStats) -> Iterator[FileVersion]:
    storage = open_source(root.url)
    walk = storage.tree("") if _is_flat(storage, options) else _pruned(storage, root, "", options, stats)
    in_excluded_class = keys_of_classes(root.url, options.excluded_classes)
    folder = _folder(root, "", options)
    for entry in walk:
        if entry.folder != folder.inside:
            folder = _folder(root, entry.folder, options)
        if not _wanted(folder, entry, options, stats):
            continue
        if in_excluded_class and entry.key in in_excluded_class:
            stats.excluded += 1
            continue
        yield _version(folder, entry)


def _is_flat(storage: SourceStorage, options: ListingOptions) -> bool:
    """Tell whether listing the whole tree asks for nothing in vain."""
    if not storage.lists_trees or options.predicate:
        return False
    return options.recurse or all(is_partition(name) for name in storage.level("").folders)


def _single(root: Root) -> FileVersion | None:
    """Return the file that a path names itself."""
    parent, slash, name = root.url.rpartition("/")
    if not (slash and parent) or parent == "s3:/":
        return None
    entry = root.file or open_source(parent).entry(name)
    return FileVersion(parent, parent, entry.name, entry.size_bytes, entry.mtime_us, entry.etag) if entry else None


@dataclass(frozen=True, slots=True)
class _Folder:
    """What holds for every file of a folder, found out once: there are folders of 100,000 files.

    Args:
        root: that it was found under.
        inside: its path below that.
        url: of itself.
        hidden: a part of its path is.
        is_listed: it is a partition, or every folder is descended into.
        may_match: the predicate holds for it.
    """

    root: Root
    inside: str
    url: str
    hidden: bool
    is_listed: bool
    may_match: bool


def _folder(root: Root, inside: str, options: ListingOptions) -> _Folder:
    names = inside.split("/") if inside else []
    wanted = options.predicate
    return _Folder(
        root,
        inside,
        f"{root.url}/{inside}" if inside else root.url,
        any(map(is_hidden, names)),
        options.recurse or all(map(is_partition, names)),
        wanted is None or wanted.matches(_known(f"{root.under}/{inside}")),
    )


def _version(folder: _Folder, entry: Entry) -> FileVersion:
    root = folder.root
    return FileVersion(root.url, folder.url, entry.name, entry.size_bytes, entry.mtime_us, entry.etag, root.under)


def _pruned(
    storage: SourceStorage, root: Root, folder: str, options: ListingOptions, stats: ListingStats
) -> Iterator[Entry]:
    level = storage.level(folder)
    yield from level.files
    if options.predicate:
        above = f"{root.under}/{folder}"
        options.predicate.learn(_known(f"{above}/{name}") for name in level.folders if is_partition(name))
    for name in level.folders:
        below = f"{folder}/{name}" if folder else name
        if is_hidden(name):
            continue
        if not (options.recurse or is_partition(name)):
            stats.not_descended.append(below) if len(stats.not_descended) < 10 else None
            continue
        if options.predicate and not options.predicate.may_match(_known(f"{root.under}/{below}")):
            stats.not_matching += 1
            continue
        yield from _pruned(storage, root, below, options, stats)


def _wanted(folder: _Folder, entry: Entry, options: ListingOptions, stats: ListingStats) -> bool:
    if folder.hidden or is_hidden(entry.name):
        stats.hidden += 1
        return False
    if not folder.is_listed:
        return False
    excluded = options.exclusions
    if excluded and (excluded.search(entry.key) or excluded.match(f"{folder.root.url}/{entry.key}")):
        stats.excluded += 1
        return False
    stats.unmatched += not folder.may_match
    return folder.may_match


def _known(folder: str) -> dict[str, str | None]:
    return {name.lower(): value for name, value in partition_values(folder)}
