"""The protocol of a step, and the schema that results from a chain of steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from gluepot.frames.chunk import CallSite, Chunk


class Step(Protocol):
    """A narrow transform: looks at one chunk, moves no rows between chunks. Picklable; called in the worker."""

    def __call__(self, chunk: Chunk, /) -> Chunk:
        """Return the chunk's good rows transformed, its errors first among the new chunk's."""


def run_steps(steps: Iterable[Step], chunk: Chunk) -> Chunk:
    """Return the chunk after all steps, in order."""
    for step in steps:
        chunk = step(chunk)
    return chunk


@dataclass(frozen=True, slots=True)
class Stage:
    """A step that adds to its errors where the script called it.

    Args:
        step: does the work.
        callsite: the call.
    """

    step: Step
    callsite: CallSite

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return what the step returns, its own errors marked."""
        done = self.step(chunk)
        before = len(chunk.errors)
        if len(done.errors) == before:
            return done
        own = [replace(error, callsite=self.callsite) for error in done.errors[before:]]
        return replace(done, errors=[*done.errors[:before], *own])


def output_schema(steps: Iterable[Step], schema: pa.Schema) -> pa.Schema:
    """Return the schema that rows of `schema` have after the steps.

    The steps run on a chunk without rows. After `MapRows`, whose types come from its rows, the result is empty.
    """
    return run_steps(steps, empty_chunk(schema)).batch.schema


def empty_chunk(schema: pa.Schema) -> Chunk:
    """Return a chunk without rows."""
    return Chunk(pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema))
