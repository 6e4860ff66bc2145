"""The environment a Spark driver starts in: the same Python everywhere, a Java, our defaults."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from pathlib import Path

from etlcore.java import ensure_java

DEFAULTS_FOLDER = Path(__file__).parent / "spark_conf"


def prepare(environ: MutableMapping[str, str]) -> None:
    """Set what is not set; must happen before the first SparkContext.

    Without PYSPARK_PYTHON workers start whatever `python3` is on the PATH, which need not have our packages.

    Raises:
        ConfigError: no usable Java was found.
    """
    environ.setdefault("PYSPARK_PYTHON", sys.executable)
    environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    environ.setdefault("SPARK_CONF_DIR", str(DEFAULTS_FOLDER))
    environ.setdefault("JAVA_HOME", str(ensure_java(environ).home))
