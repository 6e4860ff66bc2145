"""Makes DataFrames of Python data sources inside the driver, for which Spark would start three processes.

Spark 4.1 looks for installed sources, makes an instance of a source, and lets it plan its reads. It does each of these
in a new Python process that loads pyspark and our modules again, which takes three seconds of processor time before the
first batch. The driver has loaded all of that already. So it makes the instance and the read function itself, and puts
them where Spark keeps the answers of those processes. Only the process that gives a running stream its offsets remains.

Spark has no public call for this. If Spark's internal classes differ from those of 4.1, frames are made the usual way.
"""

from __future__ import annotations

import io
import pkgutil
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.datasource import CaseInsensitiveDict, DataSource
from pyspark.sql.types import StructType
from pyspark.sql.worker.plan_data_source_read import write_read_func_and_partitions
from pyspark.worker_util import pickleSer

from gluepot.core.logging import get_logger

_INSTALLED_PREFIX = "pyspark_"
"""The prefix by which Spark recognizes modules that bring their own sources."""

_ARROW_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BINARY_AS_BYTES = "spark.sql.execution.pyspark.binaryAsBytes"

_MADE_OTHERWISE = (Py4JError, TypeError)
"""What py4j raises if a class or method does not exist or takes other arguments. Frames are then made the usual way."""

log = get_logger(__name__)


_registering = threading.Lock()
"""Several threads of a script may make their first streams at the same time."""


def register(spark: SparkSession, source: type[DataSource]) -> bool:
    """Register a source with a session and make the session active; return whether the source was new to it.

    Spark looks for sources of installed packages only if a module has the prefix of such packages.
    """
    with _registering:
        return _register(spark, source)


def is_registered(spark: SparkSession, source: type[DataSource]) -> bool:
    """Return whether `register` has registered a source with a session."""
    return bool(spark.conf.get(_setting(source), ""))


def _setting(source: type[DataSource]) -> str:
    return f"gluepot.registered.{source.name()}"


def _register(spark: SparkSession, source: type[DataSource]) -> bool:
    if is_registered(spark, source):
        return False  # Spark would warn of a second registration
    # Spark looks in the active session for a name that is taken, and refuses a name that another session registered.
    # So the session must be the active one. pyspark has no public call for that; createDataFrame does it this way.
    sessions = SparkSession._get_j_spark_session_class(spark._jvm)  # noqa: SLF001
    sessions.setActiveSession(spark._jsparkSession)  # noqa: SLF001
    if not any(one.name.startswith(_INSTALLED_PREFIX) for one in pkgutil.iter_modules()):
        _skip_lookup(spark)
    spark.dataSource.register(source)
    spark.conf.set(_setting(source), "true")
    return True


def _skip_lookup(spark: SparkSession) -> None:
    """Make Spark believe that it has looked for installed sources and found none."""
    jvm: Any = spark._jvm  # noqa: SLF001  there is no other way to the driver's JVM
    try:
        manager = _object(jvm, "org.apache.spark.sql.execution.datasources.DataSourceManager")
        if manager.dataSourceBuilders().isEmpty():
            none = _object(jvm, "scala.collection.immutable.Map").empty()
            getattr(manager, "dataSourceBuilders_$eq")(jvm.scala.Some(none))
    except _MADE_OTHERWISE as error:
        log.debug("sources_looked_up", reason=str(error))


def stream_of(spark: SparkSession, source: type[DataSource], options: Mapping[str, str]) -> DataFrame:
    """Return `spark.readStream.format(source.name()).options(**options).load()`; the source must be registered.

    Args:
        spark: the session.
        source: a source whose schema is a StructType.
        options: the options of the source.
    """
    return _loaded(spark, source, options, is_stream=True)


def rows_of(spark: SparkSession, source: type[DataSource], options: Mapping[str, str]) -> DataFrame:
    """Return `spark.read.format(source.name()).options(**options).load()`, with its partitions planned at once."""
    return _loaded(spark, source, options, is_stream=False)


def _loaded(spark: SparkSession, source: type[DataSource], options: Mapping[str, str], *, is_stream: bool) -> DataFrame:
    planned = _planned(spark, source, options, is_stream=is_stream)
    try:
        return _frame(spark, planned)
    except _MADE_OTHERWISE as error:
        log.debug("source_made_by_spark", reason=str(error))
        reader = spark.readStream if is_stream else spark.read
        return reader.format(source.name()).options(**options).load()


@dataclass(frozen=True, slots=True)
class _Planned:
    """What Spark's processes would answer: the pickled source, the function that workers run, and the partitions."""

    name: str
    options: Mapping[str, str]
    schema: StructType
    source: bytes
    read: bytes
    partitions: Sequence[bytes]
    is_stream: bool


def _planned(spark: SparkSession, source: type[DataSource], options: Mapping[str, str], *, is_stream: bool) -> _Planned:
    made = source(CaseInsensitiveDict(options))  # type: ignore[arg-type]
    schema = made.schema()
    assert isinstance(schema, StructType)
    told = io.BytesIO()
    write_read_func_and_partitions(
        told,
        reader=made.streamReader(schema) if is_stream else made.reader(schema),
        data_source=made,
        schema=schema,
        max_arrow_batch_size=int(spark.conf.get(_ARROW_ROWS) or 0),
        binary_as_bytes=spark.conf.get(_BINARY_AS_BYTES, "true") == "true",
    )
    told.seek(0)
    read = _block(told)
    partitions = [_block(told) for _ in range(_number(told))]
    pickled = pickleSer.dumps(made)  # type: ignore[no-untyped-call]
    return _Planned(source.name(), dict(options), schema, pickled, read, partitions, is_stream)


def _frame(spark: SparkSession, planned: _Planned) -> DataFrame:
    jvm: Any = spark._jvm  # noqa: SLF001  as above
    session: Any = spark._jsparkSession  # noqa: SLF001
    sources, catalyst = jvm.org.apache.spark.sql.execution.datasources.v2, jvm.org.apache.spark.sql.catalyst
    python, none = sources.python, _object(jvm, "scala.None")
    columns = session.parseDataType(planned.schema.json())
    provider = python.PythonDataSourceV2()
    provider.setShortName(planned.name)
    made = provider.getClass().getDeclaredField("dataSourceInPython")
    made.setAccessible(True)
    made.set(provider, python.PythonDataSourceCreationResult(planned.source, columns))
    partitions = jvm.PythonUtils.toSeq(list(planned.partitions))
    provider.setReadInfo(python.PythonDataSourceReadInfo(planned.read, partitions))
    table = python.PythonTable(provider, planned.name, columns)
    options = jvm.org.apache.spark.sql.util.CaseInsensitiveStringMap(planned.options)
    if planned.is_stream:
        attributes, given = catalyst.types.DataTypeUtils.toAttributes(columns), jvm.scala.Some(provider)
        stream = catalyst.streaming.StreamingRelationV2
        relation = stream(given, planned.name, table, options, attributes, none, none, none)
    else:
        relation = sources.DataSourceV2Relation.create(table, none, none, options, none)
    return ClassicDataFrame(_object(jvm, "org.apache.spark.sql.classic.Dataset").ofRows(session, relation), spark)


def _block(told: IO[bytes]) -> bytes:
    return told.read(_number(told))


def _number(told: IO[bytes]) -> int:
    return int.from_bytes(told.read(4), "big")


def _object(jvm: Any, name: str) -> Any:
    """Return a Scala object by its name."""
    return getattr(getattr(jvm, f"{name}$"), "MODULE$")
