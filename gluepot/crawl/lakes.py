"""Tables of Delta Lake and Iceberg, whose own files say which columns they have."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.storage import Entry, SourceStorage
from gluepot.crawl.values import FileKind, FoundTable, Part
from gluepot.frames.schema.glue_types import arrow_type

_COMMIT, _CHECKPOINT = re.compile(r"\d{20}\.json"), re.compile(r"\d{20}\.checkpoint.*\.parquet")
_METADATA = re.compile(r"v?(\d+).*\.metadata\.json")
_MOST_BYTES = 64 << 20
_GZIP = b"\x1f\x8b"
_ICEBERG_NAMES = {
    "timestamptz": "timestamp",
    "timestamp_ns": "timestamp",
    "timestamptz_ns": "timestamp",
    "time": "string",
    "uuid": "string",
}
_DELTA_NAMES = {"timestamp_ntz": "timestamp"}


def lake_table(storage: SourceStorage, url: str, folder: str, form: str) -> FoundTable:
    """Return a lake table as its own newest metadata describe it.

    Args:
        storage: of the target.
        url: of the target.
        folder: of the table, relative to it.
        form: `delta` or `iceberg`.

    Raises:
        PermanentError: the metadata are not there, damaged, or not understood.
        ConfigError: this format cannot be crawled.
    """
    place = f"{url}/{folder}" if folder else url
    try:
        match form:
            case "delta":
                schema = _delta_schema(storage, folder)
                parameters = {"table_type": "DELTA", "spark.sql.sources.provider": "delta"}
            case "iceberg":
                entry = _newest_metadata(storage, folder)
                schema = _iceberg_schema(json.loads(_bytes(storage, entry)))
                parameters = {"table_type": "ICEBERG", "metadata_location": f"{url}/{entry.key}"}
            case _:
                raise ConfigError(f"{place} is a table of {form}, which cannot be crawled yet")
    except (ValueError, KeyError, TypeError, LookupError, RecursionError, pa.ArrowException) as error:
        raise PermanentError(f"{place} has metadata of {form} that are not understood ({error})") from error
    kind = FileKind(form, schema=schema, format=form)
    return FoundTable(url, folder, "", kind, (), (Part(folder, kind, 0, 0, 0),), form, parameters)


def _delta_schema(storage: SourceStorage, folder: str) -> pa.Schema:
    log = _inside(storage, folder, "_delta_log")
    for entry in sorted((one for one in log if _COMMIT.fullmatch(one.name)), key=lambda one: one.name, reverse=True):
        for line in io.BytesIO(_bytes(storage, entry)):
            if b'"metaData"' in line and "metaData" in (action := json.loads(line)):
                return _spark_schema(action["metaData"]["schemaString"])
    for entry in sorted(
        (one for one in log if _CHECKPOINT.fullmatch(one.name)), key=lambda one: one.name, reverse=True
    ):
        rows = parquet.read_table(io.BytesIO(_bytes(storage, entry)), columns=["metaData"])["metaData"]
        for row in rows.drop_null().to_pylist():
            if row.get("schemaString"):
                return _spark_schema(row["schemaString"])
    raise LookupError("the log has no schema")


def _spark_schema(text: str) -> pa.Schema:
    return pa.schema([pa.field(one["name"], _spark_type(one["type"])) for one in json.loads(text)["fields"]])


def _spark_type(plain: Any) -> pa.DataType:
    if isinstance(plain, str):
        return arrow_type(_DELTA_NAMES.get(plain, plain))
    match plain["type"]:
        case "struct":
            return pa.struct([pa.field(one["name"], _spark_type(one["type"])) for one in plain["fields"]])
        case "array":
            return pa.list_(_spark_type(plain["elementType"]))
        case "map":
            return pa.map_(_spark_type(plain["keyType"]), _spark_type(plain["valueType"]))
    raise KeyError(plain["type"])


def _newest_metadata(storage: SourceStorage, folder: str) -> Entry:
    found = [
        (int(number[1]), one.mtime_us, one)
        for one in _inside(storage, folder, "metadata")
        if (number := _METADATA.fullmatch(one.name))
    ]
    return max(found, key=lambda one: one[:2])[2]


def _iceberg_schema(metadata: Mapping[str, Any]) -> pa.Schema:
    schemas = {one.get("schema-id"): one for one in metadata.get("schemas") or ()}
    schema = schemas.get(metadata.get("current-schema-id")) or metadata["schema"]
    return pa.schema([pa.field(one["name"], _iceberg_type(one["type"])) for one in schema["fields"]])


def _iceberg_type(plain: Any) -> pa.DataType:
    if isinstance(plain, str):
        name = plain.replace(" ", "")
        return pa.binary() if name.startswith("fixed[") else arrow_type(_ICEBERG_NAMES.get(name, name))
    match plain["type"]:
        case "struct":
            return pa.struct([pa.field(one["name"], _iceberg_type(one["type"])) for one in plain["fields"]])
        case "list":
            return pa.list_(_iceberg_type(plain["element"]))
        case "map":
            return pa.map_(_iceberg_type(plain["key"]), _iceberg_type(plain["value"]))
    raise KeyError(plain["type"])


def _inside(storage: SourceStorage, folder: str, name: str) -> Sequence[Entry]:
    return storage.level(f"{folder}/{name}" if folder else name).files


def _bytes(storage: SourceStorage, entry: Entry) -> bytes:
    if entry.size_bytes > _MOST_BYTES:
        raise ValueError(f"{entry.name} has {entry.size_bytes >> 20} MiB")
    with storage.open(entry) as file:
        data = file.read()
    return gzip.decompress(data) if data.startswith(_GZIP) else data
