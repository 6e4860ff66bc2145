"""The category of the error with which a run ended."""

import pytest

from gluepot.service.decisions.outcome_metrics import category_of
from gluepot.service.decisions.states import Run, State


@pytest.mark.parametrize(
    ("error", "category"),
    [
        ("ModuleNotFoundError: No module named 'pandas'", "IMPORT_ERROR"),
        ("SyntaxError: invalid syntax (job.py, line 3)", "SYNTAX_ERROR"),
        ("java.lang.OutOfMemoryError: Java heap space", "OUT_OF_MEMORY_ERROR"),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table `a` cannot be found", "RESOURCE_NOT_FOUND_ERROR"),
        ("An error occurred (AccessDeniedException) when calling", "PERMISSION_ERROR"),
        ("There is no script s3://b/job.py; correct ScriptLocation.", "LAUNCH_ERROR"),
        ("ValueError: no such day", "INVALID_ARGUMENT_ERROR"),
        ("Command failed with exit code 3", "SYSTEM_EXIT_ERROR"),
        ("KeyError: 'day'", "UNCLASSIFIED_ERROR"),
    ],
)
def test_an_error_has_a_category(error, category):
    assert category_of(Run(1, "jr_1", "daily", State.FAILED, {}, error=error)) == category


def test_a_run_that_takes_too_long_has_its_own():
    assert category_of(Run(1, "jr_1", "daily", State.TIMEOUT, {}, error="ValueError")) == "TIMEOUT_ERROR"
