"""Steps that call the user's Python function for every row (docs/glue 6.2)."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from gluepot.frames.chunk import Chunk, ErrorRecord, Origin
from gluepot.frames.json_text import json_bytes
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.record import DynamicRecord
from gluepot.frames.rows import rows
from gluepot.frames.time_zone import UTC, TimeZone
from gluepot.frames.transforms.fields_read import fields_read
from gluepot.frames.transforms.steps import Stage, Step

# What building columns from foreign values may raise; see batch_from_objects. Arrow's errors are ValueError, TypeError
# or neither, by kind; RecursionError ends a record that contains itself.
_UNFIT = (TypeError, ValueError, OverflowError, RecursionError, pa.ArrowException)


@dataclass(frozen=True, slots=True)
class FilterRows:
    """Keeps the records for which `f(record)` is true.

    KeyError, ValueError and TypeError mean no, so that a record without the field is left out silently; any other
    exception makes an error record `filter_error`.

    Args:
        f: gets a DynamicRecord; picklable where the step is to be.
        zone: the zone of the timestamps in records.
    """

    f: Callable[[Any], Any]
    zone: TimeZone = UTC

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the kept rows with the chunk's schema; new errors after the old."""
        verdicts, errors = [], list(chunk.errors)
        for index, record in enumerate(rows(chunk, DynamicRecord, fields_read(self.f), self.zone)):
            keep = False
            try:
                keep = bool(self.f(record))
            except (KeyError, ValueError, TypeError):
                keep = False
            except Exception as error:  # noqa: BLE001 - the user's function may raise anything
                errors.append(_error("filter_error", chunk, index, error))
            verdicts.append(keep)
        return replace(chunk.filtered(pa.array(verdicts, pa.bool_())), errors=errors)


@dataclass(frozen=True, slots=True)
class MapRows:
    """Replaces every record by `f(record)`.

    An exception, or a result that is empty or no record, makes an error record `map_error`. The schema of the result is
    that of the values returned, so it cannot be told without running `f`.

    Args:
        f: gets a DynamicRecord and returns one, or any mapping; picklable where the step is to be.
        zone: the zone of the timestamps in records, and of datetimes without one in results.
    """

    f: Callable[[Any], Any]
    zone: TimeZone = UTC

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the mapped rows; new errors after the old."""
        mapped: dict[int, Mapping[str, Any]] = {}
        errors = list(chunk.errors)
        for index, record in enumerate(rows(chunk, DynamicRecord, zone=self.zone)):
            try:
                mapped[index] = _record(self.f(record))
            except Exception as error:  # noqa: BLE001 - the user's function may raise anything
                errors.append(_error("map_error", chunk, index, error))
        try:
            batch = batch_from_objects(list(mapped.values()), self.zone)
            return replace(chunk, batch=batch, errors=errors, origin=_origin(chunk, mapped))
        except _UNFIT:
            fit, unfit = _sorted_out(chunk, mapped, self.zone)
            batch = batch_from_objects(list(fit.values()), self.zone)
            return replace(chunk, batch=batch, errors=[*errors, *unfit], origin=_origin(chunk, fit))


def calls_user_code(step: Step) -> bool:
    """Return whether a step runs a function of the script."""
    return isinstance(step.step if isinstance(step, Stage) else step, FilterRows | MapRows)


def _record(result: Any) -> Mapping[str, Any]:
    if not result:
        raise ValueError("User-specified function returned None instead of DynamicRecord")  # Glue's own words
    if not isinstance(result, dict):
        raise TypeError(f"the function returned a {type(result).__name__} instead of a DynamicRecord.")
    return result


def _origin(chunk: Chunk, rows: Iterable[int]) -> Origin | None:
    """Return the origin of rows that were made from those of a chunk, given by their indices."""
    return None if chunk.origin is None else chunk.origin.of(np.fromiter(rows, np.int64))


def _sorted_out(
    chunk: Chunk, mapped: Mapping[int, Mapping[str, Any]], zone: TimeZone
) -> tuple[dict[int, Mapping[str, Any]], list[ErrorRecord]]:
    """Try the results one by one; return those that become a row, and an error for each of the others."""
    fit: dict[int, Mapping[str, Any]] = {}
    unfit = []
    for index, result in mapped.items():
        try:
            batch_from_objects([result], zone)
        except _UNFIT as error:
            unfit.append(_error("map_error", chunk, index, error))
        else:
            fit[index] = result
    return fit, unfit


def _error(reason: str, chunk: Chunk, index: int, error: Exception) -> ErrorRecord:
    # The record as it came: the function may have changed the one it was given.
    record = next(rows(Chunk(chunk.batch.slice(index, 1))))
    trace = "".join(traceback.format_exception(error))
    return ErrorRecord(json_bytes(record), reason, f"{type(error).__name__}: {error}", stack_trace=trace)
