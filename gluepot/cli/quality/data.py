"""Opens what `gluepot quality` checks: files, tables that jobs wrote, and tables of the Data Catalog."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gluepot.commit import history
from gluepot.core.errors import ConfigError
from gluepot.core.storage import open_source, open_storage

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame

_FORMATS = {
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".avro": "avro",
    ".orc": "orc",
}
_PACKED = {".gz", ".bz2", ".zst", ".snappy"}


def open_frame(glue_context: GlueContext, name: str, data_format: str | None) -> DynamicFrame:
    """Return the rows of a data set.

    Args:
        glue_context: the context.
        name: a path, the folder of a table that a job wrote, or `database.table` of the Data Catalog.
        data_format: of files; None to go by their names.

    Raises:
        ConfigError: there is nothing of that name, or its format is not known.
    """
    from awsglue.dynamicframe import DynamicFrame  # noqa: PLC0415  as above

    if not is_path(name):
        database, _, table = name.partition(".")
        return glue_context.create_dynamic_frame.from_catalog(database=database, table_name=table)
    if data_format is None and not _is_file(name) and next(iter(history.every(open_storage(name))), None) is not None:
        rows = glue_context.spark_session.read.format("gluepot").load(name)
        return DynamicFrame.fromDF(rows, glue_context, name)
    data_format = data_format or _format_of(name)
    options = {"withHeader": True} if data_format == "csv" else {}
    return glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [name], "recurse": True},
        format=data_format,
        format_options=options,
    )


def is_path(name: str) -> bool:
    """Return whether a name is a path rather than a table of the Data Catalog."""
    return "/" in name or os.path.exists(name) or name.count(".") != 1  # noqa: PTH110  a name, not a path of ours


def _format_of(path: str) -> str:
    first = next(iter(_names(path)), None)
    if first is None:
        raise ConfigError(f"There are no files at {path}; correct the path, or name a table as database.table.")
    suffixes = [one.lower() for one in PurePosixPath(first).suffixes if one.lower() not in _PACKED]
    for suffix in reversed(suffixes):
        if suffix in _FORMATS:
            return _FORMATS[suffix]
    raise ConfigError(f"The name of {first} does not tell its format; give --format, such as json, csv or parquet.")


def _is_file(name: str) -> bool:
    return os.path.isfile(name)  # noqa: PTH113  a name, not a path of ours


def _names(path: str) -> list[str]:
    if _is_file(path):
        return [path]
    found = [one.name for one in open_source(path).tree("") if not one.name.startswith(("_", "."))]
    if found:
        return sorted(found)
    folder, _, name = path.rpartition("/")
    entry = open_source(folder or ".").entry(name)
    return [] if entry is None else [entry.name]
