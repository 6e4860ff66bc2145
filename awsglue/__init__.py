"""Glue's import surface for job scripts. Names and signatures are Glue's; it translates, it decides nothing.

Importing it prepares the environment of the driver, so that a script started by plain `python`, which makes its own
SparkContext, gets the same Python in its workers, a Java, and our defaults.
"""

from __future__ import annotations

import os

from gluepot.core.logging import configure_once
from gluepot.spark.spark_env import prepare

prepare(os.environ)
configure_once()

from awsglue.dynamicframe import DynamicFrame  # noqa: E402  pyspark reads the environment when it is imported

__all__ = ["DynamicFrame"]
