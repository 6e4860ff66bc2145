"""Side tasks of batches: advice, metrics, notes in the ledger. Their errors are logged and counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gluepot.core.logging import get_logger

# Called with an error of a side task, which does not stop the batch: the query, the task, the error.
Failed = Callable[[str, str, Exception], object]

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_NAME = "side_task_name"

log = get_logger(__name__)


def side_task(name: str) -> Callable[[FunctionT], FunctionT]:
    """Name a function or method that is called after batches; its errors are logged and counted by this name."""

    def named(function: FunctionT) -> FunctionT:
        setattr(function, _NAME, name)
        return function

    return named


def name_of(task: Callable[..., object]) -> str:
    """Return the name of a task, or else the module that it comes from."""
    module = str(getattr(task, "__module__", None) or type(task).__module__)
    return str(getattr(task, _NAME, module.rsplit(".", 1)[-1]))


def warn(query: str, task: str, error: Exception) -> None:
    """Log an error of a side task; see `Failed`."""
    log.warning("side_task_failed", query=query, task=task, reason=str(error) or type(error).__name__)
