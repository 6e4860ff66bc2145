"""The metrics that tell how a run ended, and the category of its error. Pure (docs/glue 10.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gluepot.core.job_parameters import is_on
from gluepot.service.decisions.definitions import is_of_job, is_python_shell
from gluepot.service.decisions.metrics import Metric, Minute, Statistics, first_minute
from gluepot.service.decisions.states import Run, State, effective_arguments

NAMESPACE, ALL_RUNS = "Glue", "ALL"
_ASKS = "--enable-observability-metrics"
UNCLASSIFIED = "UNCLASSIFIED_ERROR"
# The first pattern that an error has decides. They are names of exceptions and what systems say.
_CATEGORIES = (
    ("DISK_NO_SPACE_ERROR", r"No space left on device"),
    ("OUT_OF_MEMORY_ERROR", r"OutOfMemory|Java heap space|\bMemoryError"),
    ("IMPORT_ERROR", r"\b(ModuleNotFoundError|ImportError)"),
    ("SYNTAX_ERROR", r"\b(SyntaxError|IndentationError)"),
    ("THROTTLING_ERROR", r"Throttl|Rate exceeded|SlowDown|ProvisionedThroughputExceeded"),
    ("PERMISSION_ERROR", r"AccessDenied|Access Denied|PermissionError|[Pp]ermission denied|Forbidden"),
    (
        "RESOURCE_NOT_FOUND_ERROR",
        r"FileNotFoundError|NoSuch(Key|Bucket)|EntityNotFound|PATH_NOT_FOUND|TABLE_OR_VIEW_NOT",
    ),
    ("RESOURCES_ALREADY_EXISTS_ERROR", r"AlreadyExists|FileExistsError|ALREADY_EXISTS"),
    ("QUERY_ERROR", r"AnalysisException|ParseException"),
    ("CONNECTION_ERROR", r"ConnectionError|ConnectError|Connection refused|could not connect|UnknownHost"),
    ("UNSUPPORTED_OPERATION_ERROR", r"UnsupportedOperation|NotImplementedError"),
    ("LAUNCH_ERROR", r"There is no script|could not be started"),
    ("INVALID_ARGUMENT_ERROR", r"IllegalArgument|GlueArgumentError|\b(ValueError|TypeError)"),
    ("SYSTEM_EXIT_ERROR", r"Command failed with exit code"),
    ("UNCLASSIFIED_SPARK_ERROR", r"org\.apache\.spark|SparkException|Py4JJavaError"),
)


def outcome_data(run: Run, at_ms: int) -> Iterator[Minute]:
    """Yield the data that tells how a run ended, if it reports observability metrics.

    Args:
        run: at its end.
        at_ms: of the end, in milliseconds since 1970.
    """
    if (
        not is_of_job(run.definition)
        or is_python_shell(run.definition)
        or not is_on(effective_arguments(run).get(_ASKS))
    ):
        return
    match run.state:
        case State.SUCCEEDED:
            names = ["glue.succeed.ALL"]
        case State.FAILED | State.TIMEOUT:
            names = ["glue.error.ALL", f"glue.error.{category_of(run)}"]
        case _:
            return
    for name in names:
        for which in (run.id, ALL_RUNS):
            dimensions = {"JobName": run.job, "JobRunId": which, "ObservabilityGroup": "error", "Type": "count"}
            metric = Metric(NAMESPACE, name, tuple(sorted(dimensions.items())))
            yield Minute(metric, first_minute(at_ms), "Count", Statistics.of({1.0: 1.0}))


def category_of(run: Run) -> str:
    """Return AWS's category of the error with which a run ended."""
    if run.state is State.TIMEOUT:
        return "TIMEOUT_ERROR"
    return next((name for name, pattern in _CATEGORIES if re.search(pattern, run.error)), UNCLASSIFIED)
