"""Reads databases: turns a script's options into a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from awsglue.jdbc_connection import read_settings
from gluepot.bookmarks import jobrun
from gluepot.bookmarks.jdbc_input import jdbc_input
from gluepot.connectors.jdbc.relation import Table
from gluepot.core.datasets import table_dataset
from gluepot.engine.pipeline import Pipeline
from gluepot.streaming.query import session


def jdbc_frame(spark: SparkSession, options: Mapping[str, Any], ctx: str) -> Pipeline:
    """Return the pipeline of a read. This selects the rows; they are read when the frame is used.

    Raises:
        ConfigError: an option is missing or wrong, or names something that the database does not have.
    """
    settings = read_settings(options)
    if isinstance(settings.relation, Table):  # a statement has no name
        session.current().read.add(table_dataset(settings.endpoint.url, settings.relation.name))
    return Pipeline(jdbc_input(settings, ctx, jobrun.for_read(ctx), spark))
