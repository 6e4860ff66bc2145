"""Finds the fields that a step names and that have no value in a chunk: mistyped names, mostly."""

from __future__ import annotations

import pyarrow as pa

from gluepot.frames.columns import columns_of
from gluepot.frames.transforms.apply_mapping import ApplyMapping
from gluepot.frames.transforms.fields import DropFields, RenameField, SelectFields
from gluepot.frames.transforms.paths import find
from gluepot.frames.transforms.steps import Stage, Step

Seeks = ApplyMapping | SelectFields | RenameField | DropFields


def seeking(step: Step) -> Seeks | None:
    """Return the step, without its stage, if it asks for fields by name."""
    inner = step.step if isinstance(step, Stage) else step
    return inner if isinstance(inner, Seeks) else None


def without_values(step: Seeks, batch: pa.RecordBatch, among: frozenset[str] | None) -> tuple[list[str], list[str]]:
    """Return the fields of a step that no row has, and those that are null in all rows, unless it removes them.

    This needs the null count of each column, and no work for each row.

    Args:
        step: asks for the fields.
        batch: the rows before the step; at least one.
        among: the fields to check; None for all.
    """
    columns, rows = columns_of(batch), batch.num_rows
    absent, null = [], []
    for name, path in step.sought:
        if among is None or name in among:
            column = find(columns, path, case_sensitive=step.case_sensitive)
            if column is None:
                absent.append(name)
            elif column.array.null_count == rows and not isinstance(step, DropFields):
                null.append(name)
    return absent, null


def other_columns(step: Seeks, batch: pa.RecordBatch) -> frozenset[str]:
    """Return the columns with values that a step does not ask for."""
    asked = {path[0] if step.case_sensitive else path[0].lower() for _, path in step.sought}
    return frozenset(
        name
        for name, array in zip(batch.schema.names, batch.columns, strict=True)
        if (name if step.case_sensitive else name.lower()) not in asked and array.null_count < batch.num_rows
    )
