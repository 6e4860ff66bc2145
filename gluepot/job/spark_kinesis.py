"""Reads `spark.readStream.format("kinesis")` and `"aws-kinesis"` with our own source of Kinesis.

The connectors that have these names are jars for other versions of Spark. Ours has their columns, and what Glue's own
reads have: the fast way into `forEachBatch`, and checkpoints that can be shown and rewound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamReader

from gluepot.connectors.kinesis.spark_options import FORMATS, settings_of_spark

_GIVEN, _FORMAT = "_gluepot_options", "_gluepot_format"
"""Attributes of a reader: what a script has told it. Its own are kept in the JVM, which does not give them back."""


@contextmanager
def served() -> Iterator[None]:
    """While this is open, readers of streams that name one of the formats give our frames."""
    wrapped = {"format": _format, "option": _option, "options": _options, "load": _load}
    before = {name: getattr(DataStreamReader, name) for name in wrapped}
    for name, wrap in wrapped.items():
        setattr(DataStreamReader, name, wrap(before[name]))
    try:
        yield
    finally:
        for name, original in before.items():
            setattr(DataStreamReader, name, original)


def _given(reader: Any) -> dict[str, Any]:
    found: dict[str, Any] = reader.__dict__.setdefault(_GIVEN, {})
    return found


def _is_ours(source: object) -> bool:
    return isinstance(source, str) and source.lower() in FORMATS


def _format(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def named(self: Any, source: str) -> Any:
        setattr(self, _FORMAT, source)
        return self if _is_ours(source) else original(self, source)

    return named


def _option(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def set_one(self: Any, key: str, value: Any) -> Any:
        _given(self)[key] = value
        return original(self, key, value)

    return set_one


def _options(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def set_some(self: Any, **options: Any) -> Any:
        _given(self).update(options)
        return original(self, **options)

    return set_some


def _load(original: Callable[..., Any]) -> Callable[..., DataFrame]:
    @wraps(original)
    def load(self: Any, path: Any = None, format: Any = None, schema: Any = None, **options: Any) -> DataFrame:  # noqa: A002  as Spark calls them
        if not _is_ours(format or getattr(self, _FORMAT, None)):
            found: DataFrame = original(self, path, format, schema, **options)
            return found
        # Most jobs read no Kinesis.
        from gluepot.connectors.kinesis.source import KinesisSource  # noqa: PLC0415
        from gluepot.streaming.micro_batch.frames import new_stream  # noqa: PLC0415

        source: Any = KinesisSource(settings_of_spark({**_given(self), **options}))
        return new_stream(self._spark, source)

    return load
