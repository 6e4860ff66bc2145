"""How JSON files spell the columns of a table.

The Data Catalog keeps names in lower case. Hive's and our readers look for the keys of JSON in any letter case, Spark's
reader only as the schema spells them, and gives nulls otherwise. So the schema is spelled as the table's first records
are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from gluepot.connectors.files.compression import compression_of, decompressed
from gluepot.core.errors import EtlError
from gluepot.core.storage import SourceStorage, open_source

_FILES, _BYTES_A_FILE, _RECORDS_A_FILE = 3, 1 << 20, 200
_HIDDEN = ("_", ".")


def first_records(location: str) -> list[Mapping[str, Any]]:
    """Return some records of a folder of JSON files; none if it cannot be read."""
    try:
        storage = open_source(location)
        visible = (one for one in storage.tree("") if one.size_bytes and not one.name.startswith(_HIDDEN))
        return [record for entry in islice(visible, _FILES) for record in _records(storage, entry)]
    except (EtlError, OSError, ValueError):
        return []


def spelled(schema: StructType, records: Iterable[Mapping[str, Any]]) -> StructType:
    """Return a schema with its names as records spell them; a name that no record has stays. Pure."""
    kind = _spelled(schema, list(records))
    assert isinstance(kind, StructType)
    return kind


def _spelled(kind: DataType, values: list[Any]) -> DataType:
    match kind:
        case StructType():
            records = [one for one in values if isinstance(one, Mapping)]
            names = {name.lower(): name for record in reversed(records) for name in record}
            exact = {name for record in records for name in record}
            fields = []
            for one in kind:
                name = one.name if one.name in exact else names.get(one.name.lower(), one.name)
                held = [record[name] for record in records if name in record]
                fields.append(StructField(name, _spelled(one.dataType, held), one.nullable, one.metadata))
            return StructType(fields)
        case ArrayType():
            elements = [element for one in values if isinstance(one, list) for element in one]
            return ArrayType(_spelled(kind.elementType, elements), kind.containsNull)
        case MapType():
            elements = [element for one in values if isinstance(one, Mapping) for element in one.values()]
            return MapType(kind.keyType, _spelled(kind.valueType, elements), kind.valueContainsNull)
    return kind


def _records(storage: SourceStorage, entry: Any) -> Iterator[Mapping[str, Any]]:
    with storage.open(entry) as raw:
        plain = decompressed(raw, compression_of(entry.name, None), entry.size_bytes, entry.key)
        lines = plain.read(_BYTES_A_FILE).splitlines()
    for line in islice(lines, _RECORDS_A_FILE):
        try:
            record = json.loads(line)
        except ValueError:  # the last line may be cut; what else is wrong, Spark finds
            continue
        if isinstance(record, dict):
            yield record
