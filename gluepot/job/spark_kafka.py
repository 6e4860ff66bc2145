"""Gives Spark its own connector for Kafka when a script first names the format `kafka`, as Glue ships it.

The connector is Spark's, and so are its options, rate limits and checkpoints (docs/decisions/0042). Most scripts do
not need its archives, and adding them takes 0.15 s; so they are added to the running JVM, not to each start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError

from gluepot.core.logging import get_logger
from gluepot.servers.jars.fetch import locked_archives

ARCHIVES = "spark-kafka"
"""The name of the connector's set in the lock for archives."""

_FORMAT = "kafka"
_PROVIDER = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_NAMED_IN = (
    ("pyspark.sql.readwriter", "DataFrameReader"),
    ("pyspark.sql.readwriter", "DataFrameWriter"),
    ("pyspark.sql.streaming.readwriter", "DataStreamReader"),
    ("pyspark.sql.streaming.readwriter", "DataStreamWriter"),
)
"""Where a script names a format: modules of PySpark and their classes."""

log = get_logger(__name__)


@contextmanager
def on_demand(jars_dir: Path | None) -> Iterator[None]:
    """While this is open, `format("kafka")` of a reader or writer adds Spark's connector to the JVM.

    The call raises ConfigError if an archive is missing.

    Args:
        jars_dir: folder that holds the archives; None for our cache.
    """
    classes = [getattr(import_module(module), name) for module, name in _NAMED_IN]
    before = [one.format for one in classes]
    for one in classes:
        one.format = _adding(one.format, jars_dir)
    try:
        yield
    finally:
        for one, original in zip(classes, before, strict=True):
            one.format = original


def _adding(original: Callable[..., Any], jars_dir: Path | None) -> Callable[..., Any]:
    @wraps(original)
    def named(self: Any, source: str) -> Any:
        if isinstance(source, str) and source.lower() == _FORMAT:
            add_connector(self._spark, jars_dir)
        return original(self, source)

    return named


def add_connector(spark: Any, jars_dir: Path | None) -> None:
    """Add the connector to the driver and its executors, unless a job brings one of its own.

    Args:
        spark: the session.
        jars_dir: as in `on_demand`.

    Raises:
        ConfigError: an archive is not there or not the locked one.
    """
    jvm = spark._jvm  # noqa: SLF001  PySpark adds no archive to a driver that runs
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    if _knows(jvm, loader) or not hasattr(loader, "addURL"):
        return
    archives = locked_archives(ARCHIVES, jars_dir)
    for path in archives:
        loader.addURL(jvm.java.io.File(str(path)).toURI().toURL())
        spark.sparkContext._jsc.addJar(str(path))  # noqa: SLF001
    log.info("kafka_connector_added", archives=[path.name for path in archives])


def _knows(jvm: Any, loader: Any) -> bool:
    try:
        jvm.java.lang.Class.forName(_PROVIDER, False, loader)
    except Py4JJavaError:
        return False
    return True
