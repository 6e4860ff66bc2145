"""Lists the files of a target, folder by folder, and notices folders that table formats have made."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gluepot.connectors.files.source.hive import is_partition
from gluepot.core.errors import EtlError
from gluepot.core.storage import Entry, LocalSource, SourceStorage, canonical_url, open_source
from gluepot.crawl.settings import Target

OWN_FOLDER = "_gluepot"
_LAKES = {"_delta_log": "delta", ".hoodie": "hudi"}
_ICEBERG, _ICEBERG_ENDING = "metadata", ".metadata.json"
_MOST_NOTES = 100


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


def files_of(storage: SourceStorage, target: Target, listing: Listing, known: Collection[str] = ()) -> Iterator[Entry]:
    """Yield the files of a target that a crawl looks at, in any order.

    Args:
        storage: of the target.
        target: with its exclusions.
        listing: counted up.
        known: folders below the target that are not listed.

    Raises:
        EtlError: the target itself cannot be listed.
    """
    walk = storage.tree("") if storage.lists_trees and not known else _walked(storage, "", listing, known)
    folder, hidden = None, False
    for entry in walk:
        if entry.folder != folder:
            folder, hidden = entry.folder, _is_below_hidden(entry.folder)
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


def is_hidden(name: str) -> bool:
    """Tell whether a file or folder is left out, as Hadoop does."""
    return name.startswith(("_", ".")) and not is_partition(name)


def _is_below_hidden(folder: str) -> bool:
    return any(map(is_hidden, folder.split("/"))) if folder else False


def _notice(entry: Entry, listing: Listing) -> None:
    """Note what the place of a file tells of the folder above it."""
    parts = entry.folder.split("/") if entry.folder else []
    if parts and parts[-1] == _ICEBERG and entry.name.endswith(_ICEBERG_ENDING):
        listing.lakes["/".join(parts[:-1])] = "iceberg"
    for at, part in enumerate(parts):
        if part in _LAKES:
            listing.lakes.setdefault("/".join(parts[:at]), _LAKES[part])
            return
        if part == OWN_FOLDER:
            listing.own.add("/".join(parts[:at]))
            return


def _walked(storage: SourceStorage, folder: str, listing: Listing, known: Collection[str]) -> Iterator[Entry]:
    """Yield files level by level, on past folders that cannot be listed and not into known ones."""
    try:
        level = storage.level(folder)
    except EtlError as error:
        if not folder:
            raise
        if len(listing.unreadable) < _MOST_NOTES:
            listing.unreadable.append((folder, str(error)))
        return
    yield from level.files
    for name in level.folders:
        below = f"{folder}/{name}" if folder else name
        if below in known:
            listing.skipped += 1
        elif not _is_loop(storage, below):
            yield from _walked(storage, below, listing, known)


def _is_loop(storage: SourceStorage, folder: str) -> bool:
    """Tell whether a folder is a link to one that it lies in."""
    if not isinstance(storage, LocalSource):
        return False
    path: Path = storage.root / folder
    return path.is_symlink() and path.resolve() in path.absolute().parents
