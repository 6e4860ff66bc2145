"""Warnings about scripts that run, but with which something often goes wrong (docs/glue 14)."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec

from gluepot.check.calls import GLUE_PACKAGES, Call, Script
from gluepot.check.finding import Finding, Level
from gluepot.check.option_names import ignored_options
from gluepot.check.verdict import OTHER_DATABASES
from gluepot.connectors.jdbc.endpoint import MYSQL
from gluepot.connectors.kinesis.spark_options import FORMATS
from gluepot.core.errors import ConfigError
from gluepot.quality.dqdl import DqdlError
from gluepot.quality.dqdl.parser import parse
from gluepot.streaming.interval import parse_interval

_READS = frozenset(
    {
        "DataFrameReader.from_options",
        "DynamicFrameReader.from_options",
        "GlueContext.create_data_frame_from_options",
        "GlueContext.create_dynamic_frame_from_options",
        "GlueContext.getSource",
    }
)
_WITH_CTX = _READS | frozenset(
    {
        "DynamicFrameReader.from_catalog",
        "DynamicFrameWriter.from_options",
        "DynamicFrameWriter.from_catalog",
        "GlueContext.create_dynamic_frame_from_catalog",
        "GlueContext.getSink",
        "GlueContext.write_dynamic_frame_from_catalog",
        "GlueContext.write_dynamic_frame_from_options",
    }
)
# What names of formats contain whose connectors AWS Glue ships, or users bring, and the connectors.
_SPARK_FORMATS = {
    "kinesis": "spark-sql-kinesis-connector",
    "hudi": "hudi-spark-bundle",
    "snowflake": "spark-snowflake",
    "mongo": "mongo-spark-connector",
    "dynamodb": "emr-dynamodb-hadoop",
    "bigquery": "spark-bigquery",
    "opensearch": "opensearch-hadoop",
    "elasticsearch": "elasticsearch-spark",
    "cassandra": "spark-cassandra-connector",
}
_SHORT_WINDOW_SECS = 60
_MANY_KEYS = 2
# Methods that Spark 4 no longer has, and whose names are not used by anything else.
_SPARK_4 = {
    "to_koalas": "Spark 4 has no to_koalas; use pandas_api()",
    "to_pandas_on_spark": "Spark 4 has no to_pandas_on_spark; use pandas_api()",
    "iteritems": "pandas 2 has no iteritems; use items()",
}


def warnings_of(script: Script, beside: Collection[str] = ()) -> Iterator[Finding]:
    """Yield the warnings about a script.

    Args:
        script: the script.
        beside: the names of modules that lie beside it.
    """
    yield from _job_without_commit(script)
    yield from _without_ctx(script)
    yield from _repeated_writes(script)
    yield from _small_files(script)
    yield from _ruleset_notes(script)
    yield from _gone_in_spark_4(script)
    yield from _unknown_names(script)
    yield from _modules_not_here(script, beside)
    yield from _drivers_not_here(script)
    yield from _formats_not_here(script)
    yield from _options_in_vain(script)


def _job_without_commit(script: Script) -> Iterator[Finding]:
    called = {call.name: call for call in script.calls if call.owner == "Job"}
    if "init" in called and "commit" not in called:
        message = "without job.commit() bookmarks stay where they were, and the next run reads the same again"
        yield _warning(called["init"].line, "no-commit", message)


def _without_ctx(script: Script) -> Iterator[Finding]:
    for call in script.calls:
        name = f"{call.owner}.{call.name}"
        given = call.arguments.get("transformation_ctx")
        if name in _WITH_CTX and (given is None or (isinstance(given, ast.Constant) and not given.value)):
            message = f"{name} has no transformation_ctx, by which bookmarks and repeated batches know it again"
            yield _warning(call.line, "no-ctx", message)


def _repeated_writes(script: Script) -> Iterator[Finding]:
    loops = [call for call in script.calls if call.name == "forEachBatch"]
    if loops and all(_option(call, "batchMaxRetries") in {0, "0"} for call in loops):
        return
    for line in script.row_writes:
        message = (
            "Spark writes here again when the batch is retried; use write_dynamic_frame, a MERGE, or a path with "
            "the batch's number"
        )
        yield _warning(line, "retry-repeats-write", message)


def _small_files(script: Script) -> Iterator[Finding]:
    windows = [
        secs for call in script.calls if call.name == "forEachBatch" and (secs := _window_secs(call)) is not None
    ]
    if not windows or min(windows) >= _SHORT_WINDOW_SECS:
        return
    for call in script.calls:
        keys = _option(call, "partitionKeys") if call.in_batch else None
        if isinstance(keys, list) and len(keys) >= _MANY_KEYS:
            message = (
                f"every {min(windows):g} s a file for each combination of {', '.join(map(str, keys))}; take a longer "
                "windowSize or fewer keys"
            )
            yield _warning(call.line, "small-files", message)


def _ruleset_notes(script: Script) -> Iterator[Finding]:
    for call in script.calls:
        given = _plain(call.arguments["ruleset"]) if "ruleset" in call.arguments else None
        if isinstance(given, str):
            with suppress(DqdlError):  # the verdict on the call says that it is not valid
                for note in parse(given).notes:
                    yield _warning(call.line, "ruleset", note)


def _gone_in_spark_4(script: Script) -> Iterator[Finding]:
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Attribute) and node.attr in _SPARK_4:
            yield _warning(node.lineno, "spark-4", _SPARK_4[node.attr])


def _unknown_names(script: Script) -> Iterator[Finding]:
    for path, line in script.imports:
        package = path.partition(".")[0]
        if (package in GLUE_PACKAGES or package.startswith("gs_")) and not _is_importable(path):
            yield Finding(line, Level.NOT_SUPPORTED, path, "not there yet")


def _modules_not_here(script: Script, beside: Collection[str]) -> Iterator[Finding]:
    for path, line in script.imports:
        package = path.partition(".")[0]
        if package in GLUE_PACKAGES or package.startswith("gs_") or package in beside:
            continue
        if not _is_importable(package):
            message = (
                f"there is no module {package} here; name it in --additional-python-modules, bring it with "
                "--extra-py-files, or install it"
            )
            yield _warning(line, "no-module", message)


def _drivers_not_here(script: Script) -> Iterator[Finding]:
    for call in script.calls:
        kind = _plain(call.arguments["connection_type"]) if "connection_type" in call.arguments else None
        if _given(call, "customJdbcDriverS3Path") is not None:
            continue
        lacks = OTHER_DATABASES if f"{call.owner}.{call.name}" in _READS else OTHER_DATABASES - MYSQL
        if isinstance(kind, str) and kind.lower() in lacks:
            message = f"the JDBC driver of {kind} is not shipped with Gluepot; bring it with --extra-jars"
            yield _warning(call.line, "no-driver", message)


def _formats_not_here(script: Script) -> Iterator[Finding]:
    for name, line, of_stream in script.formats:
        if of_stream and name.lower() in FORMATS:
            continue
        found = next((archive for word, archive in _SPARK_FORMATS.items() if word in name.lower()), None)
        if found is not None:
            message = f"Spark finds format({name!r}) only with its connector, {found}; bring it with --extra-jars"
            yield _warning(line, "no-format", message)
    for call in script.calls:
        if "hudi" in str(_option(call, "className")).lower():
            message = f"Spark finds Hudi only with its connector, {_SPARK_FORMATS['hudi']}; bring it with --extra-jars"
            yield _warning(call.line, "no-format", message)


def _options_in_vain(script: Script) -> Iterator[Finding]:
    for call in script.calls:
        for name, hint in ignored_options(call):
            yield _warning(call.line, "option-ignored", f"the option {name!r} means nothing here. {hint}".strip())


def _is_importable(path: str) -> bool:
    """Tell whether a module exists, or a name in one of Glue's modules."""
    module, _, name = path.rpartition(".")
    if not module:
        return find_spec(name) is not None
    try:
        owner = import_module(module)
    except ModuleNotFoundError:
        return False
    return hasattr(owner, name) or (hasattr(owner, "__path__") and find_spec(path) is not None)


def _window_secs(call: Call) -> float | None:
    try:
        return parse_interval(_option(call, "windowSize"))
    except ConfigError:
        return None


def _option(call: Call, name: str) -> object:
    """Return a literal option of a call; None if there is none."""
    given = _given(call, name)
    return None if given is None else _plain(given)


def _given(call: Call, name: str) -> ast.expr | None:
    """Return the expression of an option, wherever Glue's calls take options; None if the call does not give it."""
    for options in ("options", "connection_options"):
        given = call.arguments.get(options)
        if isinstance(given, ast.Dict):
            for key, value in zip(given.keys, given.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name:
                    return value
    return call.arguments.get(name)


def _plain(node: ast.expr) -> object:
    try:
        value: object = ast.literal_eval(node)
    except ValueError:
        return None
    return value


def _warning(line: int, rule: str, message: str) -> Finding:
    return Finding(line, Level.WARNING, rule, message)
