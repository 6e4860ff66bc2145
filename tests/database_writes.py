"""Writes to databases without Spark, as a job does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pyarrow as pa

from gluepot.connectors.jdbc.databases import table_database
from gluepot.connectors.jdbc.target import JdbcWriteSettings
from gluepot.connectors.values import CommitKey, Manifest
from gluepot.engine import jdbc_output
from gluepot.frames.chunk import Chunk


def write(options: Mapping[str, Any], *tasks: pa.RecordBatch | list[pa.RecordBatch]) -> int:
    """Write to a table and return the number of rows.

    Args:
        options: `connection_options`.
        tasks: the batches of each task.
    """
    settings = JdbcWriteSettings.from_glue(options)
    database = table_database(settings)
    key = CommitKey(uuid4().hex, 0, "sink0")
    name = database.find()
    parts = []
    for nth, task in enumerate(tasks):
        batches = [task] if isinstance(task, pa.RecordBatch) else task
        parts.append(database.sink(key, name).write(iter([Chunk(one) for one in batches]), nth, f"0/{nth}"))
    staged = [file for part in parts for file in part.files]
    try:
        with database.publication(key, name) as begun:
            bare = [replace(part, files=()) for part in parts]
            outcome, _ = jdbc_output._publish(begun, Manifest(key, bare), staged)
            return outcome.rows
    finally:
        database.drop_staged(key, name)


def batch(*rows: Mapping[str, Any], **types: pa.DataType) -> pa.RecordBatch:
    """Return rows as a batch with the types of these values; a column without a value has the null type."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [pa.array([row.get(name) for row in rows], types.get(name)) for name in names]
    return pa.RecordBatch.from_arrays(columns, names)
