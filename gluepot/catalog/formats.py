"""The file format of a table, read from its parameters and SerDe, and written to a new table (docs/glue 5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.catalog.values import Storage, Table
from gluepot.core.errors import ConfigError
from gluepot.core.option_values import is_true

_HADOOP = "org.apache.hadoop"
_TEXT_INPUT = f"{_HADOOP}.mapred.TextInputFormat"
_TEXT_OUTPUT = f"{_HADOOP}.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
_COLUMNAR = f"{_HADOOP}.hive.ql.io"


@dataclass(frozen=True, slots=True)
class HiveFormat:
    """How Hive, Athena and Spark know a format.

    Args:
        serde: class that reads and writes records.
        input: class that reads files.
        output: class that writes them.
    """

    serde: str
    input: str = _TEXT_INPUT
    output: str = _TEXT_OUTPUT


HIVE_FORMATS: Mapping[str, HiveFormat] = {
    "json": HiveFormat("org.openx.data.jsonserde.JsonSerDe"),
    "csv": HiveFormat(f"{_HADOOP}.hive.serde2.lazy.LazySimpleSerDe"),
    "parquet": HiveFormat(
        f"{_COLUMNAR}.parquet.serde.ParquetHiveSerDe",
        f"{_COLUMNAR}.parquet.MapredParquetInputFormat",
        f"{_COLUMNAR}.parquet.MapredParquetOutputFormat",
    ),
}
"""The formats that can be written."""

KNOWN_FORMATS: Mapping[str, HiveFormat] = {
    **HIVE_FORMATS,
    "opencsv": HiveFormat(f"{_HADOOP}.hive.serde2.OpenCSVSerde"),
    "orc": HiveFormat(
        f"{_COLUMNAR}.orc.OrcSerde", f"{_COLUMNAR}.orc.OrcInputFormat", f"{_COLUMNAR}.orc.OrcOutputFormat"
    ),
    "avro": HiveFormat(
        f"{_HADOOP}.hive.serde2.avro.AvroSerDe",
        f"{_COLUMNAR}.avro.AvroContainerInputFormat",
        f"{_COLUMNAR}.avro.AvroContainerOutputFormat",
    ),
    "ion": HiveFormat(
        "com.amazon.ionhiveserde.IonHiveSerDe",
        "com.amazon.ionhiveserde.formats.IonInputFormat",
        "com.amazon.ionhiveserde.formats.IonOutputFormat",
    ),
    "groklog": HiveFormat("com.amazonaws.glue.serde.GrokSerDe"),
}
"""The formats that the catalog can describe for other readers, too."""

_BY_SERDE = {
    "jsonserde": "json",
    "lazysimpleserde": "csv",
    "opencsvserde": "csv",
    "parquethiveserde": "parquet",
    "orcserde": "orc",
    "avroserde": "avro",
    "grokserde": "groklog",
    "ionhiveserde": "ion",
}
_SAME = {"glueparquet": "parquet", "grok": "groklog"}
_SEPARATORS = ("delimiter", "field.delim", "separatorChar")


SPARK_PROVIDER = "spark.sql.sources.provider"
"""The parameter in which Spark notes the format of a table that it has created."""
LAKE_FORMATS = ("delta", "iceberg", "hudi")
"""Formats that keep the columns of a table in the table's own folder."""


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How the files of a table are read and written.

    Args:
        name: `json`, `csv`, `parquet`, ...
        options: Glue's `format_options`.
    """

    name: str
    options: Mapping[str, Any]


def table_format(table: Table) -> TableFormat:
    """Return the format of a table's files.

    Raises:
        ConfigError: neither `classification` nor the SerDe names the format.
    """
    given = table.parameters.get("classification") or table.storage.parameters.get("classification") or ""
    serde = table.storage.serde.rpartition(".")[2].lower()
    of_serde = _BY_SERDE.get(serde, "")
    # The classification of logs, and of XML, is what a custom classifier calls them.
    if of_serde == "groklog":
        name = of_serde
    elif not serde and "rowTag" in table.parameters:
        name = "xml"
    else:
        name = _SAME.get(given.lower(), given.lower()) or of_serde
    if not name:
        raise ConfigError(
            f"The table {table.title} does not say its format: it has neither a classification nor a SerDe we know"
            f" ({table.storage.serde or 'none'}); add the parameter classification, such as json, csv or parquet."
        )
    return TableFormat(name, _OPTIONS[name](table) if name in _OPTIONS else {})


def lake_format(table: Table) -> str | None:
    """Return which of `LAKE_FORMATS` a table has, the first if its parameters name several; None for any other."""
    lowered = {name.lower(): value.lower() for name, value in table.parameters.items()}
    kinds = {lowered.get(name) for name in ("table_type", "classification", SPARK_PROVIDER)}
    return next((name for name in LAKE_FORMATS if name in kinds), None)


def new_storage(format_name: str, location: str, partition: bool = False) -> Storage:
    """Return the storage of a table that is written for the first time, or of one of its partitions, without columns.

    Args:
        format_name: a key of `HIVE_FORMATS`.
        location: URL of the folder.
        partition: leave out what only tables have.
    """
    hive = HIVE_FORMATS[format_name]
    serde_parameters = {"field.delim": ","} if format_name == "csv" else {"serialization.format": "1"}
    body = {
        "Location": location,
        "InputFormat": hive.input,
        "OutputFormat": hive.output,
        "Compressed": False,
        "NumberOfBuckets": -1,
        "SerdeInfo": {"SerializationLibrary": hive.serde, "Parameters": serde_parameters},
        "StoredAsSubDirectories": False,
    }
    return Storage(body if partition else {"Columns": [], **body})


def _csv(table: Table) -> dict[str, Any]:
    told = {**table.storage.serde_parameters, **table.storage.parameters, **table.parameters}
    separator = next((told[name] for name in _SEPARATORS if told.get(name)), ",")
    options: dict[str, Any] = {"separator": separator, "columnNames": [one.name for one in table.storage.columns]}
    if quote := told.get("quoteChar"):
        options["quoteChar"] = quote
    if escape := told.get("escapeChar"):
        options["escaper"] = escape
    if _headers(told.get("skip.header.line.count", "0"), table):
        options["skipFirst"] = True
    return options | _multi_line(table)


def _json(table: Table) -> dict[str, Any]:
    path = table.parameters.get("jsonPath")
    return ({"jsonPath": path} if path else {}) | _multi_line(table)


def _multi_line(table: Table) -> dict[str, Any]:
    """Return the option of a table whose records go over several lines, as a crawl has seen it."""
    return {"multiLine": True} if is_true(table.parameters.get("multiLine")) else {}


def _headers(text: str, table: Table) -> bool:
    if text not in {"0", "1"}:
        raise ConfigError(f"The table {table.title} has skip.header.line.count {text!r}; 0 and 1 can be read.")
    return text == "1"


def _grok(table: Table) -> dict[str, Any]:
    told = {**table.storage.serde_parameters, **table.parameters}
    options = {"logFormat": told.get("grokPattern") or told.get("input.format") or ""}
    customs = told.get("grokCustomPatterns") or told.get("input.grokCustomPatterns")
    return {**options, "customPatterns": customs} if customs else options


def _xml(table: Table) -> dict[str, Any]:
    row_tag = table.parameters.get("rowTag") or table.storage.parameters.get("rowTag")
    return {"rowTag": row_tag} if row_tag else {}


_OPTIONS = {"csv": _csv, "groklog": _grok, "json": _json, "xml": _xml}
