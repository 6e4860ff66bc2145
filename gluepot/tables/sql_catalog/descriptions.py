"""Tables as Spark describes them, to tables of the Data Catalog and back. Pure.

A table that Spark creates gets the parameters by which Spark knows such tables in a Hive metastore and in Glue
(`spark.sql.sources.provider`, `spark.sql.sources.schema`), and beside them what other readers of the Data Catalog look
for: columns in Hive's types, `classification` and the SerDe. A table that Spark did not create is described by these.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from gluepot.catalog.databases import is_of_database
from gluepot.catalog.formats import KNOWN_FORMATS, LAKE_FORMATS, SPARK_PROVIDER, lake_format, table_format
from gluepot.catalog.streams import is_stream
from gluepot.catalog.values import Table, catalog_name
from gluepot.core.errors import ConfigError
from gluepot.core.option_values import is_true
from gluepot.frames.schema.hive_types import arrow_of_hive

EXTERNAL, MANAGED, VIEW = "EXTERNAL", "MANAGED", "VIEW"
"""Spark's kinds of tables."""

_GLUE_KINDS = {EXTERNAL: "EXTERNAL_TABLE", MANAGED: "MANAGED_TABLE", VIEW: "VIRTUAL_VIEW"}
_SOURCES = "spark.sql.sources."
_SCHEMA = f"{_SOURCES}schema"
_PARTS = f"{_SCHEMA}.numParts"
_PART_CHARACTERS = 4000  # Spark's own limit of one parameter, `spark.sql.sources.schemaStringLengthThreshold`
_OWN_PARAMETERS = frozenset({"EXTERNAL", "classification", "table_type", "skip.header.line.count", "field.delim"})
_OWN_OPTIONS = frozenset({"path", "serialization.format", "field.delim", "quoteChar", "escapeChar"})

_CSV_OPTIONS = {"separator": "sep", "quoteChar": "quote", "escaper": "escape"}
_NOT_OF_SPARK = frozenset({"groklog", "ion", "bson", "unknown"})
"""Formats that DynamicFrames read, or nothing does."""

_NOT_READ = "hive"
"""What Spark calls the provider of tables that it would leave to Hive. It lists them, and refuses to read them."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """How the rows of a table are shared out over files."""

    number: int
    columns: tuple[str, ...]
    sort_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SparkTable:
    """A table as Spark's `CatalogTable` describes it.

    Args:
        database: in lower case.
        name: in lower case.
        kind: `EXTERNAL`, `MANAGED` or `VIEW`.
        schema: all columns, the partition columns last.
        provider: name of the data source; None for a view.
        partition_columns: names of the partition columns.
        location: URL of the folder; empty for a view.
        options: options of the data source.
        properties: the table's properties.
        buckets: None for a table without buckets.
        view_text: the query of a view; None for a table.
        comment: a text for people; None if there is none.
        owner: who created it.
        created_ms: milliseconds since 1970 UTC.
    """

    database: str
    name: str
    kind: str
    schema: StructType
    provider: str | None = None
    partition_columns: tuple[str, ...] = ()
    location: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    buckets: Buckets | None = None
    view_text: str | None = None
    comment: str | None = None
    owner: str = ""
    created_ms: int = 0


def glue_table(one: SparkTable, before: Mapping[str, Any] | None = None) -> Table:
    """Return the entry of the Data Catalog for a table of Spark.

    Args:
        one: the table.
        before: the entry that it replaces. What Spark does not know of it stays.
    """
    before = before or {}
    provider = (one.provider or "").lower()
    names = set(one.partition_columns)
    columns = [] if provider in LAKE_FORMATS else [_glue_column(each) for each in one.schema if each.name not in names]
    body = {
        **before,
        "TableType": _GLUE_KINDS[one.kind],
        "PartitionKeys": [_glue_column(each) for each in one.schema if each.name in names],
        "Parameters": dict(_parameters(one, provider)),
        "StorageDescriptor": {**(before.get("StorageDescriptor") or {}), **_storage(one, provider), "Columns": columns},
    }
    if one.owner:
        body["Owner"] = one.owner
    if one.comment is not None:
        body["Description"] = one.comment
    if one.view_text is not None:
        body |= {"ViewOriginalText": one.view_text, "ViewExpandedText": one.view_text}
    return Table(catalog_name(one.database), catalog_name(one.name), body, created_ms=one.created_ms)


def is_of_spark(table: Table) -> bool:
    """Tell whether Spark created a table."""
    return SPARK_PROVIDER in table.parameters


def spark_table(table: Table) -> SparkTable:
    """Return an entry of the Data Catalog as Spark describes tables."""
    body, provider = table.body, table.parameters.get(SPARK_PROVIDER)
    is_view = body.get("TableType") == _GLUE_KINDS[VIEW]
    storage = table.storage
    options: Mapping[str, str] = {}
    if is_view:
        provider = None
    elif provider is None:
        provider, options = _format(table)
    else:
        options = {name: value for name, value in storage.serde_parameters.items() if name not in _OWN_OPTIONS}
    number = int(storage.body.get("NumberOfBuckets") or 0)
    is_managed = body.get("TableType") == _GLUE_KINDS[MANAGED]
    return SparkTable(
        database=table.database,
        name=table.name,
        kind=VIEW if is_view else MANAGED if is_managed else EXTERNAL,
        schema=_schema(table),
        provider=provider,
        partition_columns=tuple(_keys_as_spelled(table)),
        location=storage.location,
        options=options,
        properties={name: value for name, value in table.parameters.items() if not _is_internal(name)},
        buckets=Buckets(number, *_bucket_columns(storage.body)) if number > 0 and is_of_spark(table) else None,
        view_text=body.get("ViewOriginalText") if is_view else None,
        comment=body.get("Description"),
        owner=str(body.get("Owner") or ""),
        created_ms=table.created_ms,
    )


def _parameters(one: SparkTable, provider: str) -> Iterator[tuple[str, str]]:
    yield from one.properties.items()
    if one.kind == EXTERNAL:
        yield "EXTERNAL", "TRUE"
    yield from _schema_parameters(one.schema)
    if not provider:
        return
    yield SPARK_PROVIDER, provider
    yield "classification", provider
    if one.partition_columns:
        yield "spark.sql.partitionProvider", "catalog"
    if provider == "csv":
        yield "skip.header.line.count", "1" if is_true(_option(one, "header")) else "0"


def _schema_parameters(schema: StructType) -> Iterator[tuple[str, str]]:
    text = schema.json()
    if len(text) <= _PART_CHARACTERS:
        yield _SCHEMA, text
        return
    parts = [text[start : start + _PART_CHARACTERS] for start in range(0, len(text), _PART_CHARACTERS)]
    yield _PARTS, str(len(parts))
    for number, part in enumerate(parts):
        yield f"{_SCHEMA}.part.{number}", part


def _storage(one: SparkTable, provider: str) -> dict[str, Any]:
    if one.kind == VIEW:
        return {}
    serde_parameters = {**one.options, "serialization.format": "1", "path": one.location}
    if provider == "csv":
        # As Spark writes the files, whatever the SerDe's own defaults are.
        serde_parameters["field.delim"] = _option(one, "sep") or _option(one, "delimiter") or ","
        serde_parameters["quoteChar"] = _option(one, "quote") or '"'
        serde_parameters["escapeChar"] = _option(one, "escape") or "\\"
    storage: dict[str, Any] = {"Location": one.location, "SerdeInfo": {"Parameters": serde_parameters}}
    if (hive := KNOWN_FORMATS.get(provider)) is not None:
        storage |= {"InputFormat": hive.input, "OutputFormat": hive.output}
        storage["SerdeInfo"]["SerializationLibrary"] = hive.serde
    if one.buckets is not None:
        storage["NumberOfBuckets"], storage["BucketColumns"] = one.buckets.number, list(one.buckets.columns)
        storage["SortColumns"] = [{"Column": name, "SortOrder": 1} for name in one.buckets.sort_columns]
    return storage


def _option(one: SparkTable, name: str) -> str | None:
    return next((value for key, value in one.options.items() if key.lower() == name), None)


def _glue_column(column: StructField) -> dict[str, Any]:
    comment = column.metadata.get("comment") if column.metadata else None
    named = {"Name": column.name.lower(), "Type": hive_type(column.dataType)}
    return {**named, "Comment": comment} if comment else named


def hive_type(kind: DataType) -> str:
    """Return Hive's name of a type; a type that Hive lacks becomes `string`."""
    match kind:
        case StructType():
            return f"struct<{','.join(f'{one.name}:{hive_type(one.dataType)}' for one in kind)}>"
        case ArrayType():
            return f"array<{hive_type(kind.elementType)}>"
        case MapType():
            return f"map<{hive_type(kind.keyType)},{hive_type(kind.valueType)}>"
        case TimestampType() | TimestampNTZType():
            return "timestamp"
        case DecimalType():
            return kind.simpleString()
    name = kind.simpleString()
    try:
        arrow_of_hive(name)
    except ConfigError:
        return "string"
    return name


def _schema(table: Table) -> StructType:
    """Return the schema that Spark saved, if the entry still has these columns; otherwise that of the entry."""
    saved = _saved_schema(table.parameters)
    columns = (*table.storage.columns, *table.partition_keys)
    if saved is not None:
        is_elsewhere = table.parameters.get(SPARK_PROVIDER, "").lower() in LAKE_FORMATS
        described = [(one.name.lower(), hive_type(one.dataType)) for one in saved]
        if is_elsewhere or described == [(one.name, one.type) for one in columns]:
            return saved
    if table.body.get("TableType") != _GLUE_KINDS[VIEW] and lake_format(table) is not None:
        return StructType([])
    return from_arrow_schema(pa.schema([(column.name, _arrow_type(column.type)) for column in columns]))


def _arrow_type(name: str) -> pa.DataType:
    """Return the Arrow type of a column. A type that we do not know is a text, so that the table can be listed."""
    try:
        return arrow_of_hive(name)
    except ConfigError:
        return pa.string()


def _saved_schema(parameters: Mapping[str, str]) -> StructType | None:
    text = parameters.get(_SCHEMA)
    if text is None and (number := parameters.get(_PARTS)) is not None:
        text = "".join(parameters.get(f"{_SCHEMA}.part.{at}", "") for at in range(int(number)))
    return None if not text else StructType.fromJson(json.loads(text))


def _keys_as_spelled(table: Table) -> Iterator[str]:
    saved = {one.name.lower(): one.name for one in _schema(table)}
    for key in table.partition_keys:
        if (name := saved.get(key.name)) is not None:
            yield name


def _format(table: Table) -> tuple[str, dict[str, str]]:
    """Return Spark's data source for a table that Spark did not create, and its options."""
    lake = lake_format(table)
    if lake == "delta":
        return lake, {}
    # Spark fails to list a table whose data source it cannot load, and these it could not read by this name anyway.
    if lake is not None or is_stream(table) or is_of_database(table):
        return _NOT_READ, {}
    try:
        form = table_format(table)
    except ConfigError:
        return _NOT_READ, {}
    options = {_CSV_OPTIONS[name]: str(value) for name, value in form.options.items() if name in _CSV_OPTIONS}
    if form.options.get("skipFirst"):
        options["header"] = "true"
    if "rowTag" in form.options:
        options["rowTag"] = str(form.options["rowTag"])
    if form.options.get("multiLine"):
        options["multiLine"] = "true"
    return (_NOT_READ, {}) if form.name in _NOT_OF_SPARK else (form.name, options)


def _bucket_columns(storage: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    sort = tuple(str(one["Column"]) for one in storage.get("SortColumns") or ())
    return tuple(storage.get("BucketColumns") or ()), sort


def _is_internal(name: str) -> bool:
    return name.startswith((_SOURCES, "spark.sql.partitionProvider", "spark.sql.create.")) or name in _OWN_PARAMETERS
