"""Reads and writes Spark's formats of Amazon Redshift with our own source and target of Redshift.

The connectors that have these names write a retried batch twice, and are built for other versions of Spark. A job that
brings one with --extra-jars gets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame
from pyspark.sql.readwriter import DataFrameReader, DataFrameWriter

from gluepot.connectors.jdbc.redshift_spark_options import MODES, is_redshift, read_options, write_options
from gluepot.core.errors import ConfigError, did_you_mean

_CALLS = "_gluepot_calls"
"""An attribute of a reader or writer: the calls that set it up. The JVM does not give them back."""

_SET_UP = {
    DataFrameReader: ("format", "option", "options", "schema"),
    DataFrameWriter: ("format", "option", "options", "mode"),
}


@contextmanager
def served() -> Iterator[None]:
    """While this is open, readers and writers that name one of the formats use our source and target."""
    before = []
    wrapped = [(owner, name, _noting) for owner, names in _SET_UP.items() for name in names]
    for owner, name, wrap in [*wrapped, (DataFrameReader, "load", _load), (DataFrameWriter, "save", _save)]:
        original = getattr(owner, name)
        before.append((owner, name, original))
        setattr(owner, name, wrap(original))
    try:
        yield
    finally:
        for owner, name, original in before:
            setattr(owner, name, original)


def _noting(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def set_up(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.__dict__.setdefault(_CALLS, []).append((original.__name__, args, kwargs))
        return original(self, *args, **kwargs)

    return set_up


def _calls(chain: Any) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Return the calls that set up a reader or writer. The writer of `gluepot.engine.native.writes` notes its own."""
    found: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = getattr(chain, "_noted", None) or getattr(
        chain, _CALLS, []
    )
    return found


def _last(chain: Any, name: str) -> Any:
    return next(
        (
            value
            for said, args, kwargs in reversed(_calls(chain))
            if said == name
            for value in (*args, *kwargs.values())
        ),
        None,
    )


def _options(chain: Any, more: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a chain, the last value of each; their names have no letter case."""
    found: dict[str, tuple[str, Any]] = {}
    for name, args, kwargs in [*_calls(chain), ("options", (), more)]:
        pairs = kwargs.items() if name == "options" else [(*args, *kwargs.values())] if name == "option" else []
        found |= {key.lower(): (key, value) for key, value in pairs}
    return dict(found.values())


def _is_ours(chain: Any, format: Any) -> bool:  # noqa: A002  as Spark calls it
    name = format or _last(chain, "format")
    return is_redshift(name) and not _has_connector(chain._spark._jvm, name)  # noqa: SLF001  PySpark has no other way


def _has_connector(jvm: Any, name: str) -> bool:
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        jvm.java.lang.Class.forName(f"{name}.DefaultSource", False, loader)
    except Py4JJavaError:
        return False
    return True


def _load(original: Callable[..., Any]) -> Callable[..., DataFrame]:
    @wraps(original)
    def load(self: Any, path: Any = None, format: Any = None, schema: Any = None, **options: Any) -> DataFrame:  # noqa: A002  as Spark calls them
        if not _is_ours(self, format):
            frame: DataFrame = original(self, path, format, schema, **options)
            return frame
        if schema is not None or _last(self, "schema") is not None:
            raise ConfigError("A read of Redshift has the types of its table; leave schema out, and cast the columns.")
        from awsglue.context import GlueContext  # noqa: PLC0415  most jobs read no Redshift

        context = GlueContext(self._spark.sparkContext)
        given = read_options(_options(self, options))
        return context.create_dynamic_frame_from_options("redshift", given).toDF()

    return load


def _save(original: Callable[..., Any]) -> Callable[..., None]:
    @wraps(original)
    def save(
        self: Any,
        path: Any = None,
        format: Any = None,  # noqa: A002  as Spark calls it
        mode: Any = None,
        partitionBy: Any = None,  # noqa: N803  as above
        **options: Any,
    ) -> None:
        if not _is_ours(self, format):
            original(self, path, format, mode, partitionBy, **options)
            return
        _write(self, str(mode or _last(self, "mode") or "error"), write_options(_options(self, options)))

    return save


def _write(writer: Any, mode: str, options: dict[str, Any]) -> None:
    from awsglue.context import GlueContext  # noqa: PLC0415  most jobs write to no Redshift
    from gluepot.job.redshift_tables import is_there  # noqa: PLC0415  Redshift's client is an extra

    wanted = MODES.get(mode.lower())
    if wanted is None:
        raise ConfigError(f"The mode of a write is {mode!r}; use one of {', '.join(MODES)}.{did_you_mean(mode, MODES)}")
    if wanted in {"error", "ignore"} and is_there(options):
        if wanted == "ignore":
            return
        raise ConfigError(
            f"The table {options.get('dbtable')} is there already, and the mode of the write is {mode!r}; use"
            " mode('append') or mode('overwrite')."
        )
    context = GlueContext(writer._spark.sparkContext)  # noqa: SLF001  PySpark has no other way
    given = {**options, "mode": "overwrite" if wanted == "overwrite" else "append"}
    name = f"df.write {options.get('dbtable')}"
    context.write_dynamic_frame_from_options(writer._df, "redshift", given, transformation_ctx=name)  # noqa: SLF001
