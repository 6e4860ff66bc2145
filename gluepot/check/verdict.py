"""Decides whether a call into Glue's library works, by asking the code that would run it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from awsglue import lake_tables
from awsglue.file_reads import file_settings
from awsglue.sinks import file_target
from awsglue.unboxing import box_format
from awsglue.unsupported import GLUE_CONTEXT
from gluepot.check.calls import TRANSFORM, Call
from gluepot.check.finding import Finding, Level
from gluepot.check.kinds import CLASSES
from gluepot.connectors.jdbc.endpoint import POSTGRESQL, JdbcEndpoint
from gluepot.connectors.jdbc.redshift_options import REDSHIFT
from gluepot.connectors.registry import Access, Connector, connector
from gluepot.core.errors import ConfigError, NotSupported
from gluepot.entities import parameters
from gluepot.entities.entity_types import ENTITY_TYPES
from gluepot.entities.missing_types import MISSING_TYPES
from gluepot.frames.transforms import ApplyMapping, CompareRows, ResolveChoice
from gluepot.quality.dqdl import DqdlError
from gluepot.quality.dqdl.parser import parse

_A_MODEL = "it runs a model that only AWS has; compare the columns that tell records apart with a join"
# Facades and transforms that have the name but refuse the call.
NOT_THERE = {
    "transforms.FindIncrementalMatches": _A_MODEL,
    "transforms.FindMatches": _A_MODEL,
}

# For each reader, whether it accepts a connection type.
READS: Mapping[str, Callable[[Connector], object]] = {
    "DataFrameReader": lambda one: one.reads_rows or one.reads,
    "StreamingDataSource": lambda one: one.reads_rows,
    "DynamicFrameReader": lambda one: one.reads,
}

_ONLY_THE_RUN = "?"
OTHER_DATABASES = frozenset({"mysql", "oracle", "sqlserver", "snowflake"})
"""What JDBC URLs and connection types name, besides PostgreSQL and Redshift."""
_TABLES = "the tables are in Spark's storage, not below staging_path, and their ids start anew each run"
_JOIN_ERRORS = "error records stay with the two inputs"

_TYPES = (
    f"{len(ENTITY_TYPES)} of Glue's {len(ENTITY_TYPES) + len(MISSING_TYPES)} entity types, in texts only; "
    "docs/sensitive-data.md lists them"
)

_NO_TRANSACTIONS = "it has no effect: each write is published by itself, at once or not at all"

PARTLY = {
    "GlueContext.cancel_transaction": _NO_TRANSACTIONS,
    "GlueContext.commit_transaction": _NO_TRANSACTIONS,
    "GlueContext.start_transaction": _NO_TRANSACTIONS,
    "EntityDetector.classify_columns": _TYPES,
    "EntityDetector.detect": _TYPES,
    "DynamicFrame.relationalize": _TABLES,
    "transforms.Relationalize": _TABLES,
    "DynamicFrame.join": _JOIN_ERRORS,
    "transforms.Join": _JOIN_ERRORS,
    "transforms.FillMissingValues": "a random forest of Spark's guesses; its guesses are not those of AWS's models",
    "DynamicFrame.mergeDynamicFrame": "error records of the first frame stay with it",
}


class _Unknown(Exception):
    """An argument is not a literal."""


def verdict_on(call: Call) -> Finding:
    """Return whether a call works."""
    name = call.name if call.owner == TRANSFORM else f"{call.owner}.{call.name}"
    level, message = known(call.owner, call.name)
    if level is not Level.NOT_SUPPORTED and (refused := _refused(f"{call.owner}.{call.name}", call)):
        level, message = Level.NOT_SUPPORTED, refused
    return Finding(call.line, level, name, message)


def known(owner: str, name: str) -> tuple[Level, str]:
    """Return whether a method or transform works, whatever its arguments, and what is missing."""
    key = f"{owner}.{name}"
    if owner != TRANSFORM and not hasattr(CLASSES[owner], name):
        there = owner == "GlueContext" and name in GLUE_CONTEXT
        return Level.NOT_SUPPORTED, "not there yet" if there else "Glue has no such name"
    if key in NOT_THERE:
        return Level.NOT_SUPPORTED, NOT_THERE[key]
    return (Level.PARTLY, PARTLY[key]) if key in PARTLY else (Level.SUPPORTED, "")


def literal(call: Call, name: str, default: Any = None) -> Any:
    """Return the value of an argument; of a dict or list, only its literal parts.

    Raises:
        _Unknown: the value is known only when the script runs.
    """
    node = call.arguments.get(name)
    return default if node is None else _value(node)


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
            return {key.value: _text(value) for key, value in zip(keys, values, strict=True)}  # type: ignore[union-attr]
        case ast.List(elts=elements):
            return [_value(element) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(_value(element) for element in elements)
        case _:
            raise _Unknown


def _text(node: ast.expr) -> Any:
    """Return a value of a dict; a placeholder text if it is known only when the script runs."""
    try:
        return _value(node)
    except _Unknown:
        return _ONLY_THE_RUN


def _refused(key: str, call: Call) -> str:
    """Return the sentence with which the run would refuse literal arguments; empty if it would not."""
    try:
        if key in _TRIED:
            _TRIED[key](call)
    except _Unknown:
        return ""
    except NotSupported as wrong:
        return f"{wrong.name} is not there yet"
    except (ConfigError, TypeError, ValueError) as wrong:
        return str(wrong)
    return ""


def _read_stream(call: Call) -> None:
    _readable(literal(call, "connection_type", "kafka"), "StreamingDataSource")


def _read(call: Call) -> None:
    kind = literal(call, "connection_type", "kafka")
    _readable(kind, "DataFrameReader" if call.owner == "DataFrameReader" else "DynamicFrameReader")
    if connector(kind).reads is Access.FILES:
        form = literal(call, "format")
        file_settings(kind, {"paths": ["?"]}, form, {"rowTag": "?"} if form == "xml" else {}, "")


def _readable(kind: str, reader: str) -> None:
    if not READS[reader](connector(kind)):
        raise NotSupported(f"reading connection_type {kind!r}")


def _source(call: Call) -> None:
    _readable(literal(call, "connection_type", "s3"), "DynamicFrameReader")


def _write(call: Call) -> None:
    kind = literal(call, "connection_type", "s3")
    writes = connector(kind).writes
    if writes is Access.RECORDS:
        return
    options = literal(call, "connection_options", {} if writes is Access.DOCUMENTS else {"path": "?"})
    if not isinstance(options, dict):
        raise _Unknown
    if writes is Access.DOCUMENTS:
        if "connectionName" not in options and _ONLY_THE_RUN not in options.values():
            connector(kind).new_document_store(options)
        return
    given = {name: options[name] for name in ("path", "partitionKeys") if name in options}
    if writes is Access.LAKE:
        if options.get("className") == _ONLY_THE_RUN:
            raise _Unknown
        lake_tables.of_options(kind, options)
    elif writes is Access.DATABASE:
        _writable(kind, options)
    else:
        file_target(kind, given, literal(call, "format"), {})


def _writable(kind: str, options: Mapping[str, Any]) -> None:
    url = options.get("url")
    vendor = JdbcEndpoint(url).vendor if isinstance(url, str) and url.startswith("jdbc:") else kind.lower()
    if vendor in {POSTGRESQL, REDSHIFT} and options.get("customJdbcDriverS3Path"):
        raise NotSupported(f"writing to {vendor} through a JDBC driver of the script's own")


def _sink(call: Call) -> None:
    kind = literal(call, "connection_type", "s3")
    if connector(kind).writes in {None, Access.FILES}:
        file_target(kind, {"path": "?"}, "json", {})


def _sink_format(call: Call) -> None:
    file_target("s3", {"path": "?"}, literal(call, "format"), {})


def _mapping(call: Call) -> None:
    mappings = literal(call, "mappings")
    if isinstance(mappings, list):
        ApplyMapping(tuple(mappings))


def _choice(call: Call) -> None:
    specs, choice = literal(call, "specs") or (), literal(call, "choice", "")
    if choice.strip().lower() == "match_catalog":
        return
    if not specs and not choice:
        raise ValueError("neither specs nor choice is given")
    ResolveChoice(tuple(specs), choice)


def _unbox(call: Call) -> None:
    options = {name: _text(node) for name, node in call.arguments.items()}
    box_format(literal(call, "format"), options)


def _compare(call: Call) -> None:
    compared = call.arguments.get("comparison_dict")
    if isinstance(compared, ast.Dict):
        CompareRows(ast.literal_eval(compared))


def _entity_types(call: Call) -> None:
    if (given := literal(call, "entity_types")) is not None:
        parameters.rules(given)


def _ruleset(call: Call) -> None:
    given = literal(call, "ruleset")
    if isinstance(given, str):
        try:
            parse(given)
        except DqdlError as error:
            raise ConfigError(f"in the ruleset: {error}") from None


_TRIED: dict[str, Callable[[Call], None]] = {
    "DataFrameReader.from_options": _read,
    "DynamicFrameReader.from_options": _read,
    "GlueContext.create_data_frame_from_options": _read,
    "GlueContext.create_dynamic_frame_from_options": _read,
    "GlueContext.getSource": _source,
    "GlueContext.getStreamingSource": _read_stream,
    "DynamicFrameWriter.from_options": _write,
    "GlueContext.write_dynamic_frame_from_options": _write,
    "GlueContext.write_from_options": _write,
    "DynamicFrame.write": _write,
    "GlueContext.getSink": _sink,
    "DataSink.setFormat": _sink_format,
    "EntityDetector.classify_columns": _entity_types,
    "EntityDetector.detect": _entity_types,
    "DynamicFrame.applyMapping": _mapping,
    "DynamicFrame.apply_mapping": _mapping,
    "DynamicFrame.resolveChoice": _choice,
    "DynamicFrame.split_rows": _compare,
    "DynamicFrame.unbox": _unbox,
    "transforms.ApplyMapping": _mapping,
    "transforms.EvaluateDataQuality": _ruleset,
    "transforms.ResolveChoice": _choice,
    "transforms.SplitRows": _compare,
    "transforms.Unbox": _unbox,
}
