"""Glue's import surface for job scripts. It has Glue's names and signatures, and only translates calls.

Importing it prepares the environment of the driver. So even a script that is started by plain `python` and makes its
own SparkContext gets a Java, our defaults, and the same Python in its workers.
"""

from __future__ import annotations

import os

from gluepot.core.logging import configure_once
from gluepot.spark.spark_env import prepare

prepare(os.environ)
configure_once()

from awsglue.dynamicframe import DynamicFrame  # noqa: E402  pyspark reads the environment when it is imported

__all__ = ["DynamicFrame"]
