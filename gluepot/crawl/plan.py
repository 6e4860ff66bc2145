"""Compares what a crawl found with what the catalog has, and decides what to write (docs/glue 11.6). Pure."""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Literal, NamedTuple, overload

import pyarrow as pa

from gluepot.catalog.changes import changes_in_words
from gluepot.catalog.databases import connection_of, is_of_database
from gluepot.catalog.values import Partition, Table
from gluepot.core.errors import ConfigError
from gluepot.core.plural import counted
from gluepot.core.storage import canonical_url
from gluepot.crawl.names import last_part, place_of, table_name, table_name_at
from gluepot.crawl.schemas import hive_type, merged
from gluepot.crawl.settings import EVENTS, NEW_FOLDERS, CrawlSettings
from gluepot.crawl.tables import (
    COUNTS,
    DEPRECATED_BY,
    RUN_ID,
    UPDATED_BY,
    Counts,
    columns_of,
    partition_of,
    table_body,
)
from gluepot.crawl.values import FoundTable, Part
from gluepot.frames.schema.hive_types import arrow_of_hive, hive_name

Outcome = Literal["created", "updated", "unchanged", "logged", "kept", "deprecated", "deleted"]

_BASICS = ("classification", "compressionType", "delimiter")
_FEW_PARTITIONS = 1000


@dataclass(frozen=True, slots=True)
class Action:
    """What happens to one table.

    Args:
        table: its name.
        outcome: in one word.
        body: the table's new body; None to leave it as it is.
        is_version: whether the body is a new version, and not only new counts.
        added: new partitions.
        changed: partitions with other content.
        dropped: values of partitions that go.
        why: for people; empty where the outcome says it all.
        is_indexed: a new table gets an index over its partition keys.
    """

    table: str
    outcome: Outcome
    body: Mapping[str, Any] | None = None
    is_version: bool = False
    added: Sequence[Partition] = ()
    changed: Sequence[Partition] = ()
    dropped: Sequence[tuple[str, ...]] = ()
    why: str = ""
    is_indexed: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What the listings of a crawl tell of places.

    Args:
        folders: URLs of all folders with files, sorted.
        uncertain: URLs of folders that could not be listed, sorted.
        targets: URLs of the targets that were listed as a whole.
        unclear: URLs of folders with files that were not understood.
        began_ms: when the crawl began to list, in milliseconds since 1970. What is newer may have files that it missed.
        named: URLs of folders and files that were looked at because events named them. Nothing is known of what lies
            deeper.
    """

    folders: Sequence[str]
    uncertain: Sequence[str]
    targets: Sequence[str]
    unclear: Sequence[str] = ()
    began_ms: float = math.inf
    named: Collection[str] = frozenset()

    def has_files(self, url: str) -> bool:
        """Tell whether there are files in a folder or below it, or whether nobody knows."""
        return _has(self.folders, url) or _has_below(self.folders, url) or self.is_uncertain(url)

    def is_uncertain(self, url: str) -> bool:
        """Tell whether something at a place, above it or below it could not be listed."""
        above = accumulate(url.split("/"), lambda folder, name: f"{folder}/{name}")
        return _has_below(self.uncertain, url) or any(_has(self.uncertain, one) for one in above)

    def is_unclear(self, location: str) -> bool:
        """Tell whether a table, by its folder or its file, may have files that were not understood."""
        place = _place(location)
        beside = "" if location.endswith("/") else place.rpartition("/")[0]
        return self.is_uncertain(place) or any(one == beside or _within(one, place) for one in self.unclear)

    def covers(self, url: str) -> bool:
        """Tell whether a place was looked at."""
        return url in self.named or self.covers_all(url)

    def covers_all(self, url: str) -> bool:
        """Tell whether a place was looked at with all that lies in it."""
        return any(_within(url, one) for one in self.targets)


class Known(NamedTuple):
    """What is remembered of a partition, of which there may be a hundred thousand.

    Args:
        location: URL of its folder.
        digest: of its body.
        created_ms: since 1970.
    """

    location: str
    digest: bytes
    created_ms: int = 0

    @classmethod
    def of(cls, partition: Partition) -> Known:
        """Return what is remembered of a partition."""
        text = json.dumps(partition.body, sort_keys=True)
        digest = hashlib.sha1(text.encode(), usedforsecurity=False).digest()
        return cls(partition.location, digest, partition.created_ms)


class Made(Sequence[Partition]):
    """Partitions that are made when they are written, because together they would take too much memory.

    Args:
        found: the table.
        parts: its folders.
        table: the table's body, if partitions inherit from it.
    """

    def __init__(self, found: FoundTable, parts: Sequence[Part], table: Mapping[str, Any] | None) -> None:
        self._found = found
        self._parts = parts
        self._table = table

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, at: int) -> Partition: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Partition]: ...

    def __getitem__(self, at: int | slice) -> Partition | Sequence[Partition]:
        if isinstance(at, slice):
            return [partition_of(self._found, part, self._table) for part in self._parts[at]]
        return partition_of(self._found, self._parts[at], self._table)


@dataclass(slots=True)
class Catalogued:
    """What the catalog has.

    Args:
        tables: of the database, by name.
        partitions: returns what is known of the partitions of a table, by their values.
        whole: returns partitions of a table as a whole, by their values.
    """

    tables: Mapping[str, Table]
    partitions: Callable[[Table], Mapping[tuple[str, ...], Known]]
    whole: Callable[[Table, Sequence[tuple[str, ...]]], Mapping[tuple[str, ...], Partition]]
    taken: set[str] = field(default_factory=set)


def plan(
    settings: CrawlSettings, found: Sequence[FoundTable], catalogued: Catalogued, seen: Seen, run_id: str = ""
) -> list[Action]:
    """Return what a crawl writes, a table each.

    Args:
        settings: of the crawler.
        found: what was found.
        catalogued: what there is.
        seen: which places still have files.
        run_id: of the crawl.

    Raises:
        ConfigError: more tables were found than the crawler may make.
    """
    most = settings.table_threshold
    if most is not None and len(found) > most:
        raise ConfigError(
            f"The crawl found {counted(len(found), 'table')}, and TableThreshold is {most}; nothing was written. Raise"
            " it, or set TableLevelConfiguration."
        )
    actions = [_of_table(settings, one, catalogued, seen, run_id) for one in found]
    if settings.recrawl != NEW_FOLDERS and not settings.catalog_targets:
        actions += _gone(settings, found, catalogued, seen)
    return actions


def _of_table(settings: CrawlSettings, found: FoundTable, catalogued: Catalogued, seen: Seen, run_id: str) -> Action:
    name, there = _identity(settings, found, catalogued)
    catalogued.taken.add(name)
    body = table_body(found, settings.name, run_id)
    if there is None:
        inherited = body if settings.inherit else None
        added = Made(found, found.parts, inherited) if found.keys else ()
        return Action(name, "created", body, is_version=True, added=added, is_indexed=settings.partition_index)
    if there.iceberg_catalog is not None:
        return Action(name, "kept", why="jobs have it as a table of Iceberg, whose own catalog says what it is")
    is_own = UPDATED_BY in there.parameters or bool(found.name)
    if not is_own:
        return _of_others(name, found, there, catalogued)
    if settings.recrawl == EVENTS and found.name:
        return _of_some_folders(settings, found, there, catalogued, seen, body)
    is_unclear = seen.is_unclear(there.storage.location)
    if is_unclear and _other_format(there, body):
        return Action(name, "kept", why="some of its files were not understood, and the others have another format")
    if is_unclear:
        body = _with_old_columns(body, there)
    wanted, why = _wanted(settings, there, body)
    action = _changed(name, there, wanted, why)
    if not found.keys:
        return action
    existing = _existing(settings, there, [part.values for part in found.parts], catalogued)
    return _with_partitions(settings, action, found, there, existing, catalogued, seen)


def _of_some_folders(
    settings: CrawlSettings,
    found: FoundTable,
    there: Table,
    catalogued: Catalogued,
    seen: Seen,
    body: Mapping[str, Any],
) -> Action:
    """Return what happens to a table of which events named some folders; what the others may have stays."""
    existing: dict[tuple[str, ...], Known] = {}
    held: dict[tuple[str, ...], Counts] = {}
    values = list(dict.fromkeys((*(part.values for part in found.parts), *found.gone)))
    for first in range(0, len(values), _FEW_PARTITIONS):
        some = catalogued.whole(there, values[first : first + _FEW_PARTITIONS])
        existing |= {one: Known.of(partition) for one, partition in some.items()}
        # Those that are deprecated are not counted in the table any more.
        held |= {
            one: Counts.of(partition.parameters)
            for one, partition in some.items()
            if DEPRECATED_BY not in partition.parameters
        }
    gone = _gone_partitions(there, existing, (part.values for part in found.parts), seen)
    lost = [held[one] for one in gone if one in held and settings.delete != "LOG"]
    before = [held[part.values] for part in found.parts if part.values in held]
    counts = Counts.of(there.parameters).changed([Counts.of_parts(found.parts)], (*before, *lost))
    grown = _with_the_rest(body if found.parts else there.body, there, counts)
    if not found.parts and _is_gone(there, seen):
        action = _deleted(settings, found.name, replace(there, body=grown), "its files are gone", may_drop=True)
        if action.outcome == "deleted":
            return action
    else:
        wanted, why = _wanted(settings, there, grown)
        action = _changed(found.name, there, wanted, why)
    return _with_partitions(settings, action, found, there, existing, catalogued, seen)


def _identity(settings: CrawlSettings, found: FoundTable, catalogued: Catalogued) -> tuple[str, Table | None]:
    """Return the name of a table, and its entry if the catalog has it."""
    if found.name:
        return found.name, catalogued.tables.get(found.name)
    own = last_part(found.location) if found.relation is None else found.relation.name or found.relation.location
    first = table_name(settings.prefix, own)
    for name in (first, table_name_at(found.location, first)):
        there = catalogued.tables.get(name)
        if name in catalogued.taken:
            continue
        if there is None or _place_of(there) == _place_found(found):
            return name, there
    return table_name_at(f"{found.location} {first}", first), None


def _of_others(name: str, found: FoundTable, there: Table, catalogued: Catalogued) -> Action:
    """Leave a table alone that no crawler made, but for partitions that it lacks."""
    keys = tuple(key.name for key in there.partition_keys)
    why = "no crawler made it, so its definition stays"
    if keys != found.keys or not keys:
        return Action(name, "kept", why=why)
    existing = catalogued.partitions(there)
    added = Made(found, [part for part in found.parts if part.values not in existing], there.body)
    return Action(name, "kept", added=added, why=why)


def _wanted(settings: CrawlSettings, there: Table, body: dict[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Return the body that a table gets by the policies, and what is to be said about it."""
    if settings.update == "LOG" or settings.recrawl == NEW_FOLDERS:
        differences = changes_in_words(there.body, body, COUNTS) if settings.recrawl != NEW_FOLDERS else []
        return there.body, f"UpdateBehavior is LOG: {'; '.join(differences)}" if differences else ""
    if settings.merge_new_columns:
        return _merged_body(settings, there, body)
    comments = {one["Name"]: one["Comment"] for one in columns_of(there.body) if one.get("Comment")}
    columns = [
        {"Comment": comments[one["Name"]], **one} if one["Name"] in comments else one for one in columns_of(body)
    ]
    described = {"Description": there.body["Description"]} if there.body.get("Description") else {}
    return {**body, **described, "StorageDescriptor": {**body["StorageDescriptor"], "Columns": columns}}, ""


def _other_format(there: Table, body: Mapping[str, Any]) -> list[str]:
    """Return in which basic attributes a table differs from what was found."""
    return [name for name in _BASICS if there.parameters.get(name) != body["Parameters"].get(name)]


def _with_old_columns(body: dict[str, Any], there: Table) -> dict[str, Any]:
    """Return a body that keeps the columns which were not found: files that cannot be read may have them."""
    found = {one["Name"]: one for one in columns_of(body)}
    keys = {one["Name"] for one in body["PartitionKeys"]}
    old = [found.pop(one["Name"].lower(), dict(one)) for one in columns_of(there.body) if one["Name"] not in keys]
    return {**body, "StorageDescriptor": {**body["StorageDescriptor"], "Columns": [*old, *found.values()]}}


def _merged_body(settings: CrawlSettings, there: Table, body: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Add new columns, and leave the rest; what has another format now is deprecated."""
    before, now = there.parameters, body["Parameters"]
    if odd := _other_format(there, body):
        parameters = {**before, DEPRECATED_BY: settings.name}
        told = ", ".join(f"{name} was {before.get(name)!r} and is {now.get(name)!r}" for name in odd)
        return {**there.body, "Parameters": parameters}, f"MergeNewColumns keeps the format: {told}; it is deprecated"
    if [one["Name"] for one in there.body.get("PartitionKeys") or ()] != [one["Name"] for one in body["PartitionKeys"]]:
        return there.body, "MergeNewColumns keeps the partition keys, which are others now"
    storage = there.body["StorageDescriptor"]
    columns = _with_new(columns_of(there.body), columns_of(body), _with_new_fields)
    counts = {name: value for name, value in now.items() if name in COUNTS}
    kept = {name: value for name, value in before.items() if name != DEPRECATED_BY}
    in_storage = {**(storage.get("Parameters") or {}), **counts}
    return {
        **there.body,
        "Parameters": {**kept, **counts, UPDATED_BY: settings.name},
        "StorageDescriptor": {**storage, "Columns": columns, "Parameters": in_storage},
    }, ""


def _with_the_rest(body: Mapping[str, Any], there: Table, counts: Counts) -> dict[str, Any]:
    """Return a body that keeps what folders that were not looked at may have: columns, wider types, parameters."""
    storage, now = there.body["StorageDescriptor"], body["StorageDescriptor"]
    return {
        **there.body,
        "Parameters": _with_older(there.parameters, body["Parameters"]) | counts.parameters,
        "StorageDescriptor": {
            **storage,
            "Columns": _with_new(columns_of(there.body), columns_of(body), _widened),
            "SerdeInfo": _with_paths(storage.get("SerdeInfo") or {}, now.get("SerdeInfo") or {}),
            "Parameters": _with_older(storage.get("Parameters") or {}, body["Parameters"]) | counts.parameters,
        },
    }


def _with_paths(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a SerDe of JSON with the names of further columns, and any other one as it is."""
    before, now = (str((one.get("Parameters") or {}).get("paths", "")) for one in (old, new))
    if not now or now == before:
        return old
    paths = ",".join(sorted({*filter(None, before.split(",")), *now.split(",")}))
    return {**old, "Parameters": {**(old.get("Parameters") or {}), "paths": paths}}


def _with_older(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Return parameters in which a table's own win, unless they say that no file has a trait that some have now."""
    kept = {
        name: value
        for name, value in old.items()
        if name not in {DEPRECATED_BY, RUN_ID} and not (name in new and value == "false")
    }
    return {**new, **kept}


def _widened(old: str, new: str) -> str:
    """Return the type that holds values of both types."""
    try:
        before, now = (pa.schema([("", arrow_of_hive(one))]) for one in (old, new))
        both = merged([before, now])
    except ConfigError:
        return old
    return old if both.equals(before) else hive_type(both.field(0))


def _with_new(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]], joined: Callable[[str, str], str]
) -> list[dict[str, Any]]:
    found = {one["Name"]: one for one in new}
    columns = []
    for one in old:
        wider = found.get(one["Name"].lower())
        columns.append({**one, "Type": joined(str(one.get("Type")), wider["Type"])} if wider else dict(one))
    names = {one["Name"].lower() for one in old}
    return [*columns, *(dict(one) for one in new if one["Name"] not in names)]


def _with_new_fields(old: str, new: str) -> str:
    """Return a type with the fields that another one has beside its own."""
    try:
        return hive_name(pa.field("", _grown(arrow_of_hive(old), arrow_of_hive(new)))) if "struct" in old else old
    except ConfigError:
        return old


def _grown(old: pa.DataType, new: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(old) and pa.types.is_struct(new):
        theirs = {field.name: field for field in new}
        mine = [
            field.with_type(_grown(field.type, theirs[field.name].type)) if field.name in theirs else field
            for field in old
        ]
        names = {field.name for field in old}
        return pa.struct([*mine, *(field for field in new if field.name not in names)])
    if pa.types.is_list(old) and pa.types.is_list(new):
        return pa.list_(_grown(old.value_type, new.value_type))
    return old


def _changed(name: str, there: Table, wanted: Mapping[str, Any], why: str) -> Action:
    if _without_counts(there.body) != _without_counts(wanted):
        told = "; ".join(changes_in_words(there.body, wanted, COUNTS))
        return Action(name, "updated", wanted, is_version=True, why=why or told)
    if there.body != wanted and _counts(there.body) != _counts(wanted):
        return Action(name, "unchanged", wanted, why=why)
    return Action(name, "logged" if why else "unchanged", why=why)


def _is_gone(there: Table, seen: Seen) -> bool:
    """Tell whether a table was looked at and has no file at all."""
    place = _place_of(there)
    return there.created_ms <= seen.began_ms and seen.covers(place) and not seen.has_files(place)


def _with_partitions(
    settings: CrawlSettings,
    action: Action,
    found: FoundTable,
    there: Table,
    existing: Mapping[tuple[str, ...], Known],
    catalogued: Catalogued,
    seen: Seen,
) -> Action:
    body = action.body or there.body
    keys = [one["Name"] for one in body.get("PartitionKeys") or ()]
    if keys != list(found.keys):
        return replace(action, why=action.why or "its partition keys are others than those of the folders")
    inherited = body if settings.inherit else None
    parts = {part.values: part for part in found.parts}
    if keys != [key.name for key in there.partition_keys]:
        return replace(action, added=Made(found, list(parts.values()), inherited), dropped=list(existing))
    may_change = settings.update != "LOG" or settings.inherit
    others = [
        part
        for values, part in parts.items()
        if may_change
        and values in existing
        and Known.of(partition_of(found, part, inherited)).digest != existing[values].digest
    ]
    gone = [] if settings.recrawl == NEW_FOLDERS else _gone_partitions(there, existing, parts, seen)
    deprecated: list[Partition] = []
    if settings.delete == "DEPRECATE_IN_DATABASE" and gone:
        whole = catalogued.whole(there, gone).values()
        deprecated = [now for one in whole if (now := _deprecated(one, settings.name)) != one]
    return replace(
        action,
        added=Made(found, [part for values, part in parts.items() if values not in existing], inherited),
        changed=[*Made(found, others, inherited), *deprecated] if deprecated else Made(found, others, inherited),
        dropped=gone if settings.delete == "DELETE_FROM_DATABASE" else [],
        why=action.why or (f"{counted(len(gone), 'partition')} without files" if gone else ""),
    )


def _existing(
    settings: CrawlSettings, there: Table, wanted: Sequence[tuple[str, ...]], catalogued: Catalogued
) -> Mapping[tuple[str, ...], Known]:
    """Return what is known of a table's partitions; of the wanted ones only if no others matter and they are few."""
    if settings.recrawl == NEW_FOLDERS and len(wanted) <= _FEW_PARTITIONS:
        return {values: Known.of(one) for values, one in catalogued.whole(there, wanted).items()}
    return catalogued.partitions(there)


def _gone_partitions(
    there: Table, existing: Mapping[tuple[str, ...], Known], wanted: Iterable[tuple[str, ...]], seen: Seen
) -> list[tuple[str, ...]]:
    found = set(wanted)
    return [
        values
        for values, one in existing.items()
        if values not in found
        and one.created_ms <= seen.began_ms
        and seen.covers(place := _place(one.location or there.storage.location))
        and not seen.has_files(place)
    ]


def _deprecated(one: Partition, crawler: str) -> Partition:
    return replace(one, body={**one.body, "Parameters": {**one.parameters, DEPRECATED_BY: crawler}})


def _gone(settings: CrawlSettings, found: Sequence[FoundTable], catalogued: Catalogued, seen: Seen) -> list[Action]:
    """Return what becomes of tables that this crawler made and did not find again."""
    places = [_place_found(one) for one in found]
    actions = []
    for name, there in sorted(catalogued.tables.items()):
        place = _place_of(there)
        is_own = there.parameters.get(UPDATED_BY) == settings.name and there.iceberg_catalog is None
        is_newer = there.created_ms > seen.began_ms
        if name in catalogued.taken or not is_own or is_newer or not seen.covers(place):
            continue
        if seen.has_files(place):
            if there.partition_keys and not seen.covers_all(place):
                continue
            nested = any(_within(one, place) or _within(place, one) for one in places)
            if seen.is_unclear(there.storage.location) or not nested:
                actions.append(Action(name, "kept", why="its files are there and were not understood"))
            else:
                actions.append(_deleted(settings, name, there, "its files belong to other tables now", may_drop=False))
        else:
            what = "its table is gone" if is_of_database(there) else "its files are gone"
            actions.append(_deleted(settings, name, there, what, may_drop=True))
    return actions


def _deleted(settings: CrawlSettings, name: str, there: Table, why: str, *, may_drop: bool) -> Action:
    if settings.delete == "LOG":
        return Action(name, "logged", why=f"{why}; DeleteBehavior is LOG")
    if settings.delete == "DELETE_FROM_DATABASE" and may_drop:
        return Action(name, "deleted", why=why)
    if there.parameters.get(DEPRECATED_BY):
        return Action(name, "unchanged", why=f"{why}; it is deprecated")
    return Action(
        name, "deprecated", _with_parameter(there.body, DEPRECATED_BY, settings.name), is_version=True, why=why
    )


def _with_parameter(body: Mapping[str, Any], name: str, value: str) -> dict[str, Any]:
    return {**body, "Parameters": {**(body.get("Parameters") or {}), name: value}}


def _without_counts(body: Mapping[str, Any]) -> dict[str, Any]:
    storage = dict(body.get("StorageDescriptor") or {})
    storage["Parameters"] = {k: v for k, v in (storage.get("Parameters") or {}).items() if k not in COUNTS}
    own = {k: v for k, v in (body.get("Parameters") or {}).items() if k not in COUNTS}
    return {**body, "StorageDescriptor": storage, "Parameters": own}


def _counts(body: Mapping[str, Any]) -> dict[str, str]:
    return {k: v for k, v in (body.get("Parameters") or {}).items() if k in COUNTS and k != "CRAWL_RUN_ID"}


def _place_of(there: Table) -> str:
    """Return the place of a table of the catalog."""
    location = there.storage.location
    return place_of(connection_of(there), location) if is_of_database(there) else _place(location)


def _place_found(found: FoundTable) -> str:
    """Return the place of a table that was found."""
    return _place(found.location) if found.relation is None else place_of(found.relation.connection, found.location)


def _place(location: str) -> str:
    try:
        return canonical_url(location) if location else ""
    except ConfigError:
        return location.rstrip("/")


def _has(places: Sequence[str], url: str) -> bool:
    """Tell whether a place is among others, which are sorted."""
    at = bisect_left(places, url)
    return at < len(places) and places[at] == url


def _has_below(places: Sequence[str], url: str) -> bool:
    """Tell whether one of some places, which are sorted, lies in a folder."""
    at = bisect_left(places, f"{url}/")
    return at < len(places) and places[at].startswith(f"{url}/")


def _within(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(f"{outer.rstrip('/')}/")
