"""The pytest plugin: fixtures for tests of Glue scripts. It is loaded with pytest and imports as little as it can."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from gluepot.testing import GlueJobRunner


@pytest.fixture(scope="session")
def glue_context() -> GlueContext:
    """A GlueContext on a small local Spark that all tests of the process share."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    from awsglue.context import GlueContext  # noqa: PLC0415

    builder = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    return GlueContext(builder.config("spark.sql.shuffle.partitions", "2").getOrCreate())


@pytest.fixture
def run_glue_job(tmp_path_factory: pytest.TempPathFactory) -> GlueJobRunner:
    """A function that runs a script as a job: `run_glue_job(script, args, streams=...)`."""
    from gluepot.testing import GlueJobRunner  # noqa: PLC0415

    return GlueJobRunner(tmp_path_factory.mktemp("glue"))
