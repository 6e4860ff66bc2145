"""Tells a failure: the lines of the user's own code that led to it, and one sentence."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Collection, Iterable
from pathlib import Path

import gluepot
from gluepot.cli import exit_codes
from gluepot.core.errors import ConfigError, EtlError, LeaseHeld
from gluepot.core.python_traceback import last_traceback

_MOST_FRAMES = 5
_PACKAGES = Path(gluepot.__file__).parents[1]
_LIBRARIES = (
    *(str(_PACKAGES / name) for name in ("awsglue", "awsgluedq", "awsglueml", "gluepot")),
    *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
)
_FRAME = re.compile(r'  File "(?P<file>[^"]+)", line \d+')
_CAUSE = re.compile(r"^(?:Caused by: |: )(?:[\w$]+\.)+(?P<what>[\w$]+(?:: .*)?)$", re.MULTILINE)
_OF_SPARK = ("py4j.", "pyspark.")
_PY4J = f"{os.sep}py4j{os.sep}"
_WHERE_ARGUMENTS_GO = "write the script's arguments after `--`, or in Arguments of a run of the service."
_LOST_JVM = (
    "Spark's JVM has ended, and the job with it; look above for what it said last, such as an OutOfMemoryError, and run"
    " the job again."
)
# Errors that Spark's ANSI mode raises. Without it, as in Glue before 6.0, each of them gives null.
_STRICT = re.compile(
    r"\[(?:CAST_INVALID_INPUT|CAST_OVERFLOW|DIVIDE_BY_ZERO|ARITHMETIC_OVERFLOW|INVALID_ARRAY_INDEX"
    r"|CANNOT_PARSE_TIMESTAMP)[.\]]"
)
# A column that is asked of a stream whose only one is the text of its records (docs/glue 3.5).
_NOT_INFERRED = re.compile(
    r"UNRESOLVED_COLUMN.*? with name `(?P<name>[^`]+)`.*?(?P<one>\$\w+\$data_infer_schema\$[_.]temporary\$)", re.DOTALL
)
# What Spark says when it has to read an entry of the Data Catalog that no reader of Spark's is for.
_NOT_FOR_SQL = re.compile(
    r"No plan for HiveTableRelation \[(?:`spark_catalog`\.)?`(?P<database>.*?)`\.`(?P<table>.*?)`,"
)
# Columns that a stream's frame has only if the script asks for them (connectors/streams/record_columns.py).
_RECORD_COLUMN = re.compile(
    r"\[UNRESOLVED_COLUMN\b[^`]*`(?P<column>topic|partition|offset|streamName|partitionKey|sequenceNumber"
    r"|approximateArrivalTimestamp)`",
    re.IGNORECASE,
)


def told(error: BaseException) -> tuple[list[str], str]:
    """Return the lines of the user's own code that led to an error, and what happened.

    Frames of Python, of installed packages and of Gluepot are left out. An error that happened in a task of Spark has
    the lines of both, the script and the task.
    """
    frames = own_frames(traceback.extract_tb(error.__traceback__), _LIBRARIES)
    lines = "".join(traceback.format_list(frames)).splitlines()
    if isinstance(error, SyntaxError) and error.filename is not None and not _is_of(error.filename, _LIBRARIES):
        *place, _ = traceback.format_exception_only(error)
        return "".join([*lines, *place]).splitlines(), f"{type(error).__name__}: {error}"  # with file and line
    if isinstance(error, EtlError):
        return lines, str(error)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return lines, f"{error.filename} cannot be used: {error.strerror}."
    if _has_lost_jvm(error):
        return lines, _LOST_JVM
    if type(error).__module__.startswith(_OF_SPARK):
        in_task, what = of_spark(str(error), _LIBRARIES)
        return [*lines, *in_task], with_hint(what or f"{type(error).__name__}: {error}", str(error))
    # The service knows an error by the name of its class (`gluepot/service/decisions/outcome_metrics.py`).
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, ModuleNotFoundError) and lines:
        return lines, f"{said}; name it in --additional-python-modules, or give its file with --extra-py-files."
    return lines, f"{said}; {_WHERE_ARGUMENTS_GO}" if _lacks_arguments(error) else said


def with_hint(sentence: str, text: str) -> str:
    """Return the sentence with what helps: the option for a script that was written for an older Glue, another call.

    Args:
        sentence: what happened.
        text: the whole text of Spark's error.
    """
    if unread := _NOT_FOR_SQL.search(text):
        name = f"{unread['database']}.{unread['table']}"
        return (
            f"Spark SQL cannot read {name}, because the entry stands for a stream, a table of a database, or a table of"
            " Iceberg. Read it with create_dynamic_frame.from_catalog, or name a table of Iceberg by its own catalog:"
            f" glue_catalog.{name}."
        )
    if record_column := _RECORD_COLUMN.search(text):
        column = record_column["column"]
        return (
            f"{sentence}\nTo read {column} from the records of a stream, add"
            f' "addRecordColumns": "{column}" to its options.'
        )
    if asked := _NOT_INFERRED.search(text):
        return (
            f"The stream has no column {asked['name']}, because with inferSchema its only column is {asked['one']}, the"
            f" text of a record. Name that column instead, as in F.from_json(F.col({asked['one']!r}), schema), or call"
            " DynamicFrame.fromDF for the fields as columns."
        )
    if not _STRICT.search(text):
        return sentence
    return (
        f"{sentence}\nIn Glue before 6.0 such a value becomes null: for a script of that time, add --glue-version 5.1."
    )


def _has_lost_jvm(error: BaseException) -> bool:
    """Tell whether a call into the JVM found nobody there, or got no answer."""
    if type(error).__name__ == "Py4JNetworkError":
        return True
    called = any(_PY4J in frame.filename for frame in traceback.extract_tb(error.__traceback__))
    return called and isinstance(error, ConnectionError)


def exit_code(error: BaseException) -> int:
    """Return the exit code of a command that failed."""
    if isinstance(error, ConfigError | SyntaxError) or _lacks_arguments(error):
        return exit_codes.USAGE
    return exit_codes.OTHER_DRIVER if isinstance(error, LeaseHeld) else exit_codes.FAILED


def _lacks_arguments(error: BaseException) -> bool:
    """Tell whether `getResolvedOptions` did not find what the script needs; its error is Glue's, and none of ours."""
    arguments = sys.modules.get("awsglue.job_arguments")
    return arguments is not None and isinstance(error, arguments.GlueArgumentError)


def own_frames(frames: Iterable[traceback.FrameSummary], libraries: Collection[str]) -> list[traceback.FrameSummary]:
    """Return the innermost frames that are of none of the libraries.

    Args:
        frames: the outermost first.
        libraries: the folders of the libraries.
    """
    return [one for one in frames if not _is_of(one.filename, libraries)][-_MOST_FRAMES:]


def of_spark(text: str, libraries: Collection[str]) -> tuple[list[str], str]:
    """Return what matters in the text of an error of Spark: own lines of a task, and what happened there.

    If it happened in a task's Python code, that is the last line of its traceback; otherwise it is the innermost cause
    that Java names. Empty if the text has neither.

    Args:
        text: what Py4J or PySpark says, with stack traces of Java and of tasks.
        libraries: the folders whose frames are left out.
    """
    in_task = last_traceback(text)
    if in_task is None:
        causes = [one["what"] for one in _CAUSE.finditer(text)]
        return [], causes[-1] if causes else ""
    frames, what = in_task
    lines: list[str] = []
    is_own = False
    for line in frames:
        if frame := _FRAME.match(line):
            is_own = not _is_of(frame["file"], libraries)
        if is_own:
            lines.append(line)
    return lines, what


def _is_of(file: str, libraries: Collection[str]) -> bool:
    return file.startswith(("<", *(f"{folder}/" for folder in libraries)))
