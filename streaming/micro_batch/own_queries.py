"""Queries that a script starts by itself, with `writeStream`, on a stream of our sources.

Spark 4.1 tells a Python source neither the checkpoint nor where a query has to go on. Without that, a planner would
begin again where the options say, and a restarted query would read everything again. `forEachBatch` tells the
planners; for other queries, Spark's writer does so when it starts them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

from gluepot.streaming.micro_batch.frames import opened_streams
from gluepot.streaming.micro_batch.inputs import streams_of

_CHECKPOINT = "checkpointlocation"
_KEPT_AS = "_gluepot_checkpoint"


@cache
def tell_checkpoints() -> None:
    """Let Spark's writer of streams tell the planners of our streams the checkpoint of the query that it starts."""
    writer: Any = DataStreamWriter
    writer.option = _keeping_option(writer.option)
    writer.options = _keeping_options(writer.options)
    writer.start = _telling(writer.start)
    writer.toTable = _telling(writer.toTable)


def _keeping_option(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def option(self: Any, key: str, value: Any) -> Any:
        _keep(self, {key: value})
        return original(self, key, value)

    return option


def _keeping_options(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def options(self: Any, **given: Any) -> Any:
        _keep(self, given)
        return original(self, **given)

    return options


def _telling(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def start(self: Any, *args: Any, **given: Any) -> Any:
        _keep(self, given)
        checkpoint = self.__dict__.get(_KEPT_AS)
        for stream in streams_of(self._df) if opened_streams else ():
            stream.is_used = True
            if checkpoint is not None:
                stream.handover.begin(checkpoint)
        return original(self, *args, **given)

    return start


def _keep(writer: Any, options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name.lower() == _CHECKPOINT and value:
            writer.__dict__[_KEPT_AS] = str(value)
