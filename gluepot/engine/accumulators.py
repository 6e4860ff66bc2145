"""Dictionaries that tasks add to, and that Spark brings to the driver with the results of each task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from pyspark import Accumulator, AccumulatorParam, SparkContext

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class _Merging(AccumulatorParam[dict[KeyT, ValueT]]):
    merged: Callable[[dict[KeyT, ValueT], dict[KeyT, ValueT]], dict[KeyT, ValueT]]

    def zero(self, value: dict[KeyT, ValueT]) -> dict[KeyT, ValueT]:  # noqa: ARG002  the signature is Spark's
        return {}

    def addInPlace(  # noqa: N802  as above
        self, value1: dict[KeyT, ValueT], value2: dict[KeyT, ValueT]
    ) -> dict[KeyT, ValueT]:
        return self.merged(value1, value2)


class Accumulators(Generic[KeyT, ValueT]):
    """One accumulator in each Spark context of a process, made when it is first needed.

    Args:
        merged: merges what a task has added into what is there, and returns the result. It is sent with the tasks.
    """

    def __init__(self, merged: Callable[[dict[KeyT, ValueT], dict[KeyT, ValueT]], dict[KeyT, ValueT]]) -> None:
        self._param = _Merging(merged)
        self._of_contexts: dict[SparkContext, Accumulator[dict[KeyT, ValueT]]] = {}
        self._changing = Lock()

    def of(self, context: SparkContext) -> Accumulator[dict[KeyT, ValueT]]:
        """Return the accumulator of a context."""
        with self._changing:
            if context not in self._of_contexts:
                self._of_contexts[context] = context.accumulator({}, self._param)
            return self._of_contexts[context]

    def values(self) -> list[dict[KeyT, ValueT]]:
        """Return the values of all contexts."""
        with self._changing:
            return [one.value for one in self._of_contexts.values()]
