"""Lists the files of a target, folder by folder, and notices folders that table formats have made."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from gluepot.connectors.files.source.hive import is_hidden
from gluepot.core.errors import EtlError, PermanentError
from gluepot.core.storage import Entry, Level, LocalSource, SourceStorage, canonical_url, open_source
from gluepot.crawl.known import NOTHING_KNOWN, KnownFolders
from gluepot.crawl.names import folder_and_above
from gluepot.crawl.settings import Target

OWN_FOLDER = "_gluepot"
_LAKES = {"_delta_log": "delta", ".hoodie": "hudi"}
_ICEBERG, _ICEBERG_ENDING = "metadata", ".metadata.json"
# Listings are waited for more than they are computed.
_LISTERS, _AT_ONCE = 8, 256


@dataclass(slots=True)
class Listing:
    """What a listing met; grows while it is drawn.

    Args:
        files: yielded.
        hidden: files left out because a name begins with `_` or `.`.
        excluded: files left out by a glob.
        empty: files of no bytes.
        lakes: folders of lake tables, with their format: `delta`, `iceberg`, `hudi`.
        own: folders of tables that jobs of Gluepot write.
        unreadable: folders that cannot be listed, each with the reason.
        skipped: folders that were known before.
        folders: that have files of any kind, in whatever way these were left out.
        emptied: folders that were to be listed and have neither files nor folders.
        with_folders: folders that have folders inside which are not listed.
    """

    files: int = 0
    hidden: int = 0
    excluded: int = 0
    empty: int = 0
    lakes: dict[str, str] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    skipped: int = 0
    folders: set[str] = field(default_factory=set)
    emptied: set[str] = field(default_factory=set)
    with_folders: set[str] = field(default_factory=set)


def files_of(
    storage: SourceStorage, target: Target, listing: Listing, known: KnownFolders = NOTHING_KNOWN
) -> Iterator[Entry]:
    """Yield the files of a target that a crawl looks at, in any order.

    Args:
        storage: of the target.
        target: with its exclusions.
        listing: counted up.
        known: folders below the target that are not listed.

    Raises:
        EtlError: the target itself cannot be listed.
    """
    if not storage.lists_trees:
        walk = _walked(storage, "", listing, known)
    elif known.locations:
        walk = _walked_at_once(storage, listing, known)
    else:
        walk = storage.tree("")
    yield from _looked_at(walk, target, listing)


def files_in(
    storage: SourceStorage, target: Target, listing: Listing, folders: Iterable[str], tables: Collection[str]
) -> Iterator[Entry]:
    """Yield the files that lie directly in some folders of a target, and are looked at by a crawl.

    Args:
        storage: of the target.
        target: with its exclusions.
        listing: counted up.
        folders: below the target.
        tables: folders of tables that are known. They are no lake tables, and lie in none.

    Raises:
        EtlError: one of them cannot be listed now.
    """
    asked: set[str] = set()
    rest = iter(folders)
    with ThreadPoolExecutor(_LISTERS) as pool:
        while some := list(islice(rest, _AT_ONCE)):
            for folder, level in zip(some, pool.map(lambda one: _level(storage, one), some), strict=True):
                _notice_above(storage, folder, listing, tables, asked)
                if isinstance(level, PermanentError):
                    listing.unreadable.append((folder, str(level)))
                    continue
                _notice_inside(storage, target, folder, level, listing)
                yield from _looked_at(level.files, target, listing)


def _level(storage: SourceStorage, folder: str) -> Level | PermanentError:
    level = _level_or_error(storage, folder)
    if isinstance(level, EtlError) and not isinstance(level, PermanentError):
        raise level
    return level


def _level_or_error(storage: SourceStorage, folder: str) -> Level | EtlError:
    try:
        return storage.level(folder)
    except EtlError as error:
        return error


def has_files(storage: SourceStorage, folder: str) -> bool:
    """Tell whether a folder has any file, at whatever depth.

    Raises:
        EtlError: it cannot be listed now.
    """
    try:
        return next(iter(storage.tree(folder)), None) is not None
    except PermanentError:
        return True  # an object whose key is not a path


def _looked_at(walk: Iterable[Entry], target: Target, listing: Listing) -> Iterator[Entry]:
    folder, hidden = None, False
    for entry in walk:
        if entry.folder != folder:
            folder, hidden = entry.folder, is_below_hidden(entry.folder)
            listing.folders.add(folder)
        _notice(entry, listing)
        if hidden or is_hidden(entry.name):
            listing.hidden += 1
        elif target.excludes(entry.key):
            listing.excluded += 1
        elif not entry.size_bytes:
            listing.empty += 1
        else:
            listing.files += 1
            yield entry


def only_file(url: str) -> tuple[SourceStorage, Entry] | None:
    """Return the file that a URL names; None if it names a folder or nothing."""
    parent, slash, name = canonical_url(url).rpartition("/")
    if url.endswith("/") or not (slash and parent) or parent == "s3:/":
        return None
    storage = open_source(parent)
    entry = storage.entry(name)
    return (storage, entry) if entry else None


def is_below_hidden(folder: str) -> bool:
    """Tell whether a folder is left out, or lies in one that is."""
    return any(map(is_hidden, folder.split("/"))) if folder else False


def lake_of(folder: str, name: str) -> tuple[str, str] | None:
    """Return the folder of the lake table whose metadata a file is, and its format; None for other files."""
    parts = folder.split("/") if folder else []
    for at, part in enumerate(parts):
        if part in _LAKES:
            return "/".join(parts[:at]), _LAKES[part]
    if parts and parts[-1] == _ICEBERG and name.endswith(_ICEBERG_ENDING):
        return "/".join(parts[:-1]), "iceberg"
    return None


def _notice(entry: Entry, listing: Listing) -> None:
    """Note what the place of a file tells of the folder above it."""
    parts = entry.folder.split("/") if entry.folder else []
    if OWN_FOLDER in parts:
        listing.own.add("/".join(parts[: parts.index(OWN_FOLDER)]))
    elif (lake := lake_of(entry.folder, entry.name)) is not None:
        listing.lakes.setdefault(*lake)


def _notice_inside(storage: SourceStorage, target: Target, folder: str, level: Level, listing: Listing) -> None:
    """Note what the folders in a folder tell of it."""
    if not level.folders:
        if not level.files:
            listing.emptied.add(folder)
        return
    above = f"{folder}/" if folder else ""
    listing.folders.add(f"{above}{level.folders[0]}")
    if any(not is_hidden(name) and not target.excludes(f"{above}{name}/any") for name in level.folders):
        listing.with_folders.add(folder)
    if not {*_LAKES, _ICEBERG}.isdisjoint(level.folders):
        _notice_lake(storage, folder, listing)


def _notice_above(
    storage: SourceStorage, folder: str, listing: Listing, tables: Collection[str], asked: set[str]
) -> None:
    """Note whether a folder lies in a lake table, looking at each folder above it once."""
    for above in folder_and_above(folder)[1:]:
        if above in tables or above in asked:
            return
        asked.add(above)
        _notice_lake(storage, above, listing)


def _notice_lake(storage: SourceStorage, folder: str, listing: Listing) -> None:
    """Note whether a folder is a lake table."""
    for name in (*_LAKES, _ICEBERG):
        for entry in storage.level(f"{folder}/{name}" if folder else name).files:
            if (lake := lake_of(entry.folder, entry.name)) is not None:
                listing.lakes.setdefault(*lake)
                return


def _walked(storage: SourceStorage, folder: str, listing: Listing, known: KnownFolders) -> Iterator[Entry]:
    """Yield files level by level, on past folders that cannot be listed and not into known ones."""
    try:
        level = storage.level(folder)
    except EtlError as error:
        if not folder:
            raise
        listing.unreadable.append((folder, str(error)))
        return
    yield from level.files
    for below in _unknown(folder, level, listing, known):
        if not _is_loop(storage, below):
            yield from _walked(storage, below, listing, known)


def _walked_at_once(storage: SourceStorage, listing: Listing, known: KnownFolders) -> Iterator[Entry]:
    """Yield what `_walked` does. Several folders are listed at a time, all of one depth before those below them."""
    folders = [""]
    with ThreadPoolExecutor(_LISTERS) as pool:
        while folders:
            below: list[str] = []
            for first in range(0, len(folders), _AT_ONCE):
                some = folders[first : first + _AT_ONCE]
                for folder, level in zip(some, pool.map(lambda one: _level_or_error(storage, one), some), strict=True):
                    if isinstance(level, EtlError):
                        if not folder:
                            raise level
                        listing.unreadable.append((folder, str(level)))
                        continue
                    yield from level.files
                    below += _unknown(folder, level, listing, known)
            folders = below


def _unknown(folder: str, level: Level, listing: Listing, known: KnownFolders) -> list[str]:
    """Return the folders in a folder that are not known, below the target, and count the others as skipped."""
    new = known.without(folder, level.folders)
    listing.skipped += len(level.folders) - len(new)
    return new


def _is_loop(storage: SourceStorage, folder: str) -> bool:
    """Tell whether a folder is a link to one that it lies in."""
    if not isinstance(storage, LocalSource):
        return False
    path: Path = storage.root / folder
    return path.is_symlink() and path.resolve() in path.absolute().parents
