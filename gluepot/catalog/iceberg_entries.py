"""Tables of Iceberg as entries of the Data Catalog. Pure.

Jobs keep their Iceberg tables with Iceberg's JDBC catalog (docs/decisions/0016-iceberg-catalogs-are-tables.md): a row
for each table, with the URL of its newest metadata file. Clients of the API know an Iceberg table as an entry whose
parameters `table_type` and `metadata_location` say the same (docs/glue 11.4).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.catalog.values import Table

GLUE_CATALOG = "glue_catalog"
"""The name that Spark's settings give Glue's catalog in the guides of AWS. Tables that clients make belong to it."""

LOCATION, PREVIOUS = "metadata_location", "previous_metadata_location"
_HIVE_NAMES = {
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "date": "date",
    "time": "string",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
    "timestamp_ns": "timestamp",
    "timestamptz_ns": "timestamp",
    "string": "string",
    "uuid": "string",
    "binary": "binary",
}


@dataclass(frozen=True, slots=True)
class Pointer:
    """A row of Iceberg's JDBC catalog.

    Args:
        catalog: name of the catalog in Spark's settings.
        database: its namespace.
        name: of the table.
        location: URL of the newest metadata file.
        previous: URL of the file before; empty for a new table.
    """

    catalog: str
    database: str
    name: str
    location: str
    previous: str = ""

    @property
    def is_of_glue(self) -> bool:
        """Whether Glue could have a table of that name: in lower case, in a namespace of one level."""
        return "." not in self.database and self.database == self.database.lower() and self.name == self.name.lower()


@dataclass(frozen=True, slots=True)
class Linked:
    """An entry of the Data Catalog that follows a row of Iceberg's catalog, or may come to follow one.

    Args:
        catalog: the row's catalog; None if the entry follows none so far.
        location: of the row when it was last looked at; None if the entry follows none so far.
        is_iceberg: whether the entry describes a table of Iceberg.
    """

    catalog: str | None
    location: str | None
    is_iceberg: bool


def is_iceberg(parameters: Mapping[str, Any]) -> bool:
    """Tell whether the parameters of an entry say that it is a table of Iceberg."""
    return str(parameters.get("table_type", "")).lower() == "iceberg"


def shown(pointers: Iterable[Pointer], linked: Mapping[tuple[str, str], Linked]) -> dict[tuple[str, str], Pointer]:
    """Return the row that each entry follows, by database and name.

    Of rows with the same name in several catalogs it is the one that the entry follows already, else that of
    `glue_catalog`, else that of the first catalog by name. An entry that is not a table of Iceberg follows none.

    Args:
        pointers: rows of Iceberg's catalog.
        linked: the entries of the Data Catalog.
    """
    chosen: dict[tuple[str, str], Pointer] = {}
    for one in pointers:
        key = one.database, one.name
        entry = linked.get(key)
        if not one.is_of_glue or not one.location or (entry is not None and not entry.is_iceberg):
            continue
        other = chosen.get(key)
        if other is None or _rank(one, entry) < _rank(other, entry):
            chosen[key] = one
    return chosen


def _rank(pointer: Pointer, entry: Linked | None) -> tuple[bool, bool, str]:
    followed = entry.catalog if entry is not None else None
    return pointer.catalog != followed, pointer.catalog != GLUE_CATALOG, pointer.catalog


@dataclass(frozen=True, slots=True)
class Differences:
    """What has to change in the Data Catalog.

    Args:
        changed: rows whose entries are missing or older.
        gone: database and name of entries whose rows do not exist any more.
    """

    changed: Sequence[Pointer] = ()
    gone: Sequence[tuple[str, str]] = ()


def differences(pointers: Iterable[Pointer], linked: Mapping[tuple[str, str], Linked]) -> Differences:
    """Compare Iceberg's catalog with the entries that follow it; the arguments are those of `shown`."""
    followed = shown(pointers, linked)
    changed = [
        one
        for key, one in followed.items()
        if (entry := linked.get(key)) is None or (entry.catalog, entry.location) != (one.catalog, one.location)
    ]
    gone = [key for key, entry in linked.items() if entry.catalog is not None and key not in followed]
    return Differences(changed, gone)


def entry(pointer: Pointer, metadata: Mapping[str, Any] | None, before: Mapping[str, Any]) -> Table:
    """Return the entry for a table as Iceberg's own catalog for Glue writes it.

    Args:
        pointer: the row.
        metadata: content of the metadata file; None if it cannot be read, and the columns stay as they are.
        before: what described the entry before.
    """
    parameters = {
        **(before.get("Parameters") or {}),
        "table_type": "ICEBERG",
        LOCATION: pointer.location,
        **({PREVIOUS: pointer.previous} if pointer.previous else {}),
    }
    storage = dict(before.get("StorageDescriptor") or {})
    body = {**before, "TableType": "EXTERNAL_TABLE", "Parameters": parameters, "StorageDescriptor": storage}
    if metadata is not None:
        schema = _schema(metadata)
        storage["Columns"] = [_column(one) for one in schema]
        storage["Location"] = str(metadata.get("location") or "")
        comment = (metadata.get("properties") or {}).get("comment")
        if comment:
            body["Description"] = str(comment)
    return Table(pointer.database, pointer.name, body)


def metadata_of(content: bytes) -> Mapping[str, Any]:
    """Return what a metadata file says.

    Raises:
        ValueError: it is no such file.
    """
    found = json.loads(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content)
    if not isinstance(found, Mapping):
        raise ValueError("not an object")  # noqa: TRY004  as for other files that are none
    return found


def hive_type(kind: Any) -> str:
    """Return Hive's name of a type of Iceberg's; a type that Hive lacks becomes `string`.

    Args:
        kind: as a metadata file writes it: `long`, `decimal(9,2)`, or an object for a struct, a list or a map.
    """
    if isinstance(kind, Mapping):
        match kind.get("type"):
            case "struct":
                fields = (f"{one['name']}:{hive_type(one['type'])}" for one in kind.get("fields") or ())
                return f"struct<{','.join(fields)}>"
            case "list":
                return f"array<{hive_type(kind['element'])}>"
            case "map":
                return f"map<{hive_type(kind['key'])},{hive_type(kind['value'])}>"
        return "string"
    name = str(kind).replace(" ", "")
    if name.startswith("decimal("):
        return name
    return "binary" if name.startswith("fixed[") else _HIVE_NAMES.get(name, "string")


def _schema(metadata: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    schemas, current = metadata.get("schemas"), metadata.get("current-schema-id")
    if schemas:
        return next((one.get("fields") or () for one in schemas if one.get("schema-id") == current), ())
    return (metadata.get("schema") or {}).get("fields") or ()


def _column(field: Mapping[str, Any]) -> dict[str, Any]:
    comment = {"Comment": str(field["doc"])} if field.get("doc") else {}
    return {
        "Name": str(field["name"]).lower(),
        "Type": hive_type(field["type"]),
        **comment,
        "Parameters": {
            "iceberg.field.id": str(field.get("id")),
            "iceberg.field.optional": "false" if field.get("required") else "true",
            "iceberg.field.current": "true",
        },
    }
