"""Steps that call the user's Python function for every row (glue-api 6.2)."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dynamicframe.chunk import Chunk, ErrorRecord
from dynamicframe.json_text import json_bytes
from dynamicframe.objects import batch_from_objects
from dynamicframe.record import DynamicRecord
from dynamicframe.rows import rows

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
    """

    f: Callable[[DynamicRecord], Any]

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the kept rows with the chunk's schema; new errors after the old."""
        verdicts, errors = [], list(chunk.errors)
        for row in rows(chunk):
            keep = False
            try:
                keep = bool(self.f(DynamicRecord.wrap(row)))
            except (KeyError, ValueError, TypeError):
                keep = False
            except Exception as error:  # noqa: BLE001 - the user's function may raise anything
                errors.append(_error("filter_error", row, error))
            verdicts.append(keep)
        return Chunk(chunk.batch.filter(pa.array(verdicts, pa.bool_())), errors)


@dataclass(frozen=True, slots=True)
class MapRows:
    """Replaces every record by `f(record)`.

    An exception, or a result that is empty or no record, makes an error record `map_error`. The schema of the result is
    that of the values returned, so it cannot be told without running `f`.

    Args:
        f: gets a DynamicRecord and returns one, or any mapping; picklable where the step is to be.
    """

    f: Callable[[DynamicRecord], Any]

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the mapped rows; new errors after the old."""
        before, after, errors = [], [], list(chunk.errors)
        for row in rows(chunk):
            try:
                result = _record(self.f(DynamicRecord.wrap(row)))
            except Exception as error:  # noqa: BLE001 - the user's function may raise anything
                errors.append(_error("map_error", row, error))
            else:
                before.append(row)
                after.append(result)
        try:
            return Chunk(batch_from_objects(after), errors)
        except _UNFIT:
            fit, unfit = _sorted_out(before, after)
            return Chunk(batch_from_objects(fit), [*errors, *unfit])


def _record(result: Any) -> Mapping[str, Any]:
    if not result:
        raise ValueError("User-specified function returned None instead of DynamicRecord")  # Glue's own words
    if not isinstance(result, dict):
        raise TypeError(f"the function returned a {type(result).__name__} instead of a DynamicRecord.")
    return result


def _sorted_out(
    before: Sequence[Mapping[str, Any]],
    after: Sequence[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], list[ErrorRecord]]:
    """Try the records one by one; return those that become a row, and an error for each of the others."""
    fit, unfit = [], []
    for row, result in zip(before, after, strict=True):
        try:
            batch_from_objects([result])
        except _UNFIT as error:
            unfit.append(_error("map_error", row, error))
        else:
            fit.append(result)
    return fit, unfit


def _error(reason: str, row: Mapping[str, Any], error: Exception) -> ErrorRecord:
    trace = "".join(traceback.format_exception(error))
    return ErrorRecord(json_bytes(row), reason, f"{type(error).__name__}: {error}", stack_trace=trace)
