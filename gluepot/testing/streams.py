"""Recorded batches in place of streams: each is a file, each file a micro-batch, read by Spark's own file stream."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from gluepot.core.errors import ConfigError
from gluepot.core.option_values import is_true
from gluepot.frames.magic import magic_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Record: TypeAlias = "Mapping[str, Any] | str | bytes"
Batch: TypeAlias = "Sequence[Record] | Path"

# Spark takes files in the order of their times, oldest first; any second will do for the first one.
_FIRST_FILE_EPOCH_SECS = 1_700_000_000
_NAMES = ("topicName", "subscribe", "topic", "streamName", "streamARN")


def write_batches(batches: Sequence[Batch], folder: Path) -> None:
    """Write a stream's batches, in order.

    Args:
        batches: each a list of records, as documents or as they come, or a file of one record a line.
        folder: made here.

    Raises:
        ValueError: a record has a line break, or a batch no record.
    """
    folder.mkdir(parents=True)
    for at, batch in enumerate(batches):
        lines = batch.read_bytes().splitlines() if isinstance(batch, Path) else [_line(record) for record in batch]
        if not lines:
            raise ValueError(f"batch {at} is empty; a stream never gives such a one, omit it.")
        file = folder / f"{at:05d}.txt"
        file.write_bytes(b"\n".join(lines) + b"\n")
        os.utime(file, (_FIRST_FILE_EPOCH_SECS + at, _FIRST_FILE_EPOCH_SECS + at))


def _line(record: Record) -> bytes:
    line = record if isinstance(record, bytes) else record.encode() if isinstance(record, str) else orjson.dumps(record)
    if b"\n" in line:
        raise ValueError(f"record {line[:80]!r} has a line break; recorded batches hold one record a line.")
    return line


@dataclass(frozen=True, slots=True)
class RecordedStreams:
    """What a job reads in place of brokers.

    Args:
        folder: a folder of batches for each stream, named like it.
    """

    folder: Path

    def __call__(self, spark: SparkSession, connection_type: str, options: Mapping[str, Any]) -> DataFrame:
        """Return the streaming DataFrame of a topic or stream, in the columns that the options ask for.

        Raises:
            ConfigError: there are no batches of that name.
        """
        from pyspark.sql import functions as F  # noqa: N812, PLC0415  not before the environment is ready

        name = next((str(options[key]).rpartition("/")[2] for key in _NAMES if key in options), "")
        recorded = sorted(one.name for one in self.folder.iterdir())
        if name not in recorded:
            raise ConfigError(
                f"No batches are recorded for the {connection_type} stream {name!r}; there are some for "
                f"{', '.join(recorded) or 'none'}."
            )
        lines = spark.readStream.format("text").option("maxFilesPerTrigger", 1).load(str(self.folder / name))
        payload = F.col("value")
        if schema := options.get("schema"):
            return lines.select(F.from_json(payload, schema).alias("record")).select("record.*")
        if is_true(options.get("inferSchema")):
            return lines.select(payload.alias(magic_column("json")))
        return lines.select(payload.cast("binary").alias("data"))
