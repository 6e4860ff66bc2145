"""Spigot: writes a sample of a frame's records to a file (docs/glue 6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from gluepot.core.errors import ConfigError
from gluepot.core.storage import open_storage
from gluepot.engine import execute
from gluepot.engine.pipeline import Pipeline
from gluepot.frames.json_text import json_bytes
from gluepot.frames.transforms import SampleRows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write_sample(
    spark: SparkSession, pipeline: Pipeline, path: str, name: str, options: Mapping[str, Any], random: Random
) -> None:
    """Write records as JSON lines.

    Args:
        spark: the session.
        pipeline: the pipeline of the records; it runs only until the sample is complete.
        path: folder, local or `s3://`.
        name: name of the file.
        options: `topk`, the most records to write (100), and `prob`, the probability of each to be written (1).
        random: draws the sample.

    Raises:
        ConfigError: an option is out of range, or the path cannot be written.
    """
    most, probability = int(options.get("topk", 100)), float(options.get("prob", 1))
    if most < 0 or not 0 <= probability <= 1:
        raise ConfigError(f"spigot takes topk >= 0 and prob from 0 to 1, not topk={most} and prob={probability}.")
    if probability < 1:
        pipeline = pipeline.then(SampleRows(probability, random.getrandbits(32)))
    records = execute.take(spark, pipeline, most)
    open_storage(path).put(name, b"".join(json_bytes(record) + b"\n" for record in records))
