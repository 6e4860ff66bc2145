"""Folders that a crawler has seen before, and new folders as partitions of its tables (docs/glue 11.6). Pure."""

from __future__ import annotations

import string
from collections.abc import Callable, Container, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

import pyarrow as pa

from gluepot.catalog.values import Table
from gluepot.core.errors import ConfigError
from gluepot.core.plural import counted
from gluepot.core.storage import canonical_url
from gluepot.crawl.grouping import GroupRules, group, merged_kind, with_header_of
from gluepot.crawl.names import folder_and_above, partition_value
from gluepot.crawl.schemas import THRESHOLD, similarity
from gluepot.crawl.values import UNKNOWN, FileKind, FoundTable, Leaf, Part, Step
from gluepot.frames.schema.hive_types import arrow_of_hive

# Names of folders that consist of these stay as they are when a URL is made canonical, unless they begin with a dot.
_PLAIN = (string.ascii_letters + string.digits + "_=.-:/\n").encode()
# So many places are looked at in one text. If one of them is spelled otherwise, all of these are looked at one by one.
_AT_ONCE = 1_000
_BASICS = ("classification", "compressionType", "delimiter")
_HEADER = "skip.header.line.count"


@dataclass(slots=True)
class Fitted:
    """Folders of tables that exist.

    Args:
        tables: with the folders that fit, and only these.
        rest: folders that belong to no table.
        never: folders, relative to the target, of tables that exist.
        steps: what did not fit, and why.
    """

    tables: list[FoundTable] = field(default_factory=list)
    rest: list[Leaf] = field(default_factory=list)
    never: set[str] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class KnownFolders:
    """Folders below a target that tables have.

    Args:
        url: of the target.
        locations: of all of them, as the tables have them.
        others: folders, relative to the target, whose locations are not spelled as crawlers write them.
    """

    url: str = ""
    locations: AbstractSet[str] = frozenset()
    others: AbstractSet[str] = frozenset()

    def without(self, folder: str, names: Iterable[str]) -> list[str]:
        """Return the folders in a folder that are not known, relative to the target."""
        above = f"{folder}/" if folder else ""
        place, locations, others = f"{self.url}/{above}", self.locations, self.others
        return [above + name for name in names if f"{place}{name}/" not in locations and above + name not in others]


NOTHING_KNOWN = KnownFolders()


def known_folders(url: str, tables: Iterable[Table], locations: Callable[[Table], Sequence[str]]) -> KnownFolders:
    """Return the folders below a target that tables have.

    Args:
        url: of the target.
        tables: of the crawler.
        locations: returns those of the partitions of a table.
    """
    known: set[str] = set()
    others: set[str] = set()
    for table in tables:
        places = locations(table) if table.partition_keys else [table.storage.location]
        known.update(places)
        for first in range(0, len(places), _AT_ONCE):
            some = places[first : first + _AT_ONCE]
            if not _are_plain(url, some):
                others.update(inside for one in some if (inside := _relative(url, one)))
    return KnownFolders(url, known, others)


def _are_plain(url: str, places: Sequence[str]) -> bool:
    """Tell whether all places are spelled as crawlers spell folders below the target.

    A table may have a hundred thousand of them. In one text they are looked at several times as fast as one by one.
    """
    text = "\n".join(("", *places, ""))
    inside = text.replace(f"\n{url}/", "\n:")
    return (
        inside.count("\n:") == inside.count("/\n") == inside.count("\n") - 1 == len(places)
        and not any(odd in inside for odd in ("//", "/.", ":/", ":."))
        and inside.encode(errors="replace").translate(None, _PLAIN) == b""
    )


def roots_of(url: str, tables: Iterable[Table]) -> dict[str, Table]:
    """Return the tables below a target, by their folders or files relative to it.

    Args:
        url: of the target.
        tables: that exist.
    """
    return {inside: table for table in tables if (inside := _relative(url, table.storage.location)) is not None}


def root_of(folder: str, roots: Container[str]) -> str | None:
    """Return the innermost folder of a table that a folder lies in; None if it lies in none."""
    return next((above for above in folder_and_above(folder) if above in roots), None)


def fit(
    url: str, tables: Sequence[Table], leaves: Iterable[Leaf], *, combine: bool, emptied: Iterable[str] = ()
) -> Fitted:
    """Share folders out to the tables that they lie in.

    Args:
        url: of the target.
        tables: that exist.
        leaves: folders with files.
        combine: similarity does not matter.
        emptied: folders that had files and have none now.
    """
    fitted = Fitted()
    roots = roots_of(url, tables)
    fitted.never = set(roots)
    of_table: dict[str, list[Leaf]] = {}
    gone: dict[str, list[str]] = {}
    for leaf in leaves:
        root = root_of(leaf.folder, roots)
        if root is None:
            fitted.rest.append(leaf)
        else:
            of_table.setdefault(root, []).append(leaf)
    for folder in emptied:
        if (root := root_of(folder, roots)) is not None:
            gone.setdefault(root, []).append(folder)
    for root in {**of_table, **gone}:
        _fit_table(url, root, roots[root], of_table.get(root, ()), gone.get(root, ()), fitted, combine=combine)
    return fitted


def _fit_table(
    url: str, root: str, table: Table, leaves: Sequence[Leaf], emptied: Sequence[str], out: Fitted, *, combine: bool
) -> None:
    keys = [key.name for key in table.partition_keys]
    parts: list[Part] = []
    gone = [_values(keys, path) for folder in emptied if len(path := _path(root, folder)) == len(keys) > 0]
    for leaf in leaves:
        path = _path(root, leaf.folder)
        place = f"{url}/{leaf.folder}" if leaf.folder else url
        grouped = group(url, [replace(leaf, folder=leaf.folder)], (), GroupRules(combine=combine))
        compared = f"{counted(leaf.files, 'file')} with the table {table.title}"
        if len(path) != len(keys):
            rule = f"the table has {counted(len(keys), 'partition key')}, and this folder is {len(path)} levels deep"
            out.steps.append(Step(place, compared, rule, "left out"))
            continue
        kind = next((_with_header(one.kind, table) for one in grouped.tables if not one.file), None)
        if kind is None or not kind.is_known:
            out.steps.append(Step(place, compared, "its files are of several kinds, or of none", "left out"))
            continue
        if why := _unlike(kind, table):
            out.steps.append(Step(place, compared, why, "left out"))
            continue
        share = similarity(kind.schema, _schema_of(table))
        if share < THRESHOLD and not combine:
            rule = f"the columns must be similar by {THRESHOLD:.0%}"
            out.steps.append(Step(place, compared, rule, "left out", share))
            continue
        part = next(part for one in grouped.tables if not one.file for part in one.parts)
        parts.append(replace(part, kind=kind, values=_values(keys, path)))
    if parts or gone:
        known = FileKind(table.parameters.get("classification", UNKNOWN), schema=_schema_of(table))
        kind = merged_kind([part.kind for part in parts]) if parts else known
        out.tables.append(FoundTable(url, root, "", kind, tuple(keys), parts, name=table.name, gone=gone))


def _path(root: str, folder: str) -> list[str]:
    inside = folder[len(root) :].strip("/")
    return inside.split("/") if inside else []


def _values(keys: Sequence[str], path: Sequence[str]) -> tuple[str, ...]:
    return tuple(partition_value(key, name) for key, name in zip(keys, path, strict=True))


def _with_header(kind: FileKind, table: Table) -> FileKind:
    """Return how files read if their first line is the header that the table's other files have."""
    if table.parameters.get(_HEADER) != "1":
        return kind
    return with_header_of(kind, FileKind("csv", schema=_schema_of(table), basics=(*kind.basics, (_HEADER, "1"))))


def _unlike(kind: FileKind, table: Table) -> str:
    """Return in which basic attribute files differ from a table; empty if in none."""
    now = {"classification": kind.classification, "compressionType": kind.compression, **dict(kind.basics)}
    for name in _BASICS:
        was = table.parameters.get(name)
        if was is not None and was != now.get(name, ""):
            return f"{name} of the table is {was!r}, and here it is {now.get(name, 'not set')!r}"
    return ""


def _schema_of(table: Table) -> pa.Schema:
    return pa.schema([(column.name, _arrow(column.type)) for column in table.storage.columns])


def _arrow(name: str) -> pa.DataType:
    try:
        return arrow_of_hive(name)
    except ConfigError:
        return pa.string()


def _relative(url: str, location: str) -> str | None:
    """Return a location's path below a target; None if it lies elsewhere."""
    if not location:
        return None
    place = canonical_url(location)
    if place == url:
        return ""
    return place[len(url) + 1 :] if place.startswith(f"{url}/") else None
