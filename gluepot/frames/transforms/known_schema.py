"""Finds the schema after some steps without reading records, if that is possible."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from gluepot.frames.transforms.apply_mapping import ApplyMapping
from gluepot.frames.transforms.python_steps import MapRows
from gluepot.frames.transforms.steps import Stage, Step, output_schema
from gluepot.frames.transforms.unbox import Unbox

_TOLD_BY_ROWS = (MapRows, Unbox)


def known_schema(steps: Sequence[Step], given: pa.Schema | None) -> pa.Schema | None:
    """Return the schema that rows have after the steps; None if it depends on the records.

    Args:
        steps: in order.
        given: schema before them; None if it is unknown. After an ApplyMapping that names every type, the schema is
            known in any case.
    """
    plain = [step.step if isinstance(step, Stage) else step for step in steps]
    told = [index for index, step in enumerate(plain) if isinstance(step, ApplyMapping) and step.names_every_type]
    if told:
        given, plain = pa.schema([]), plain[told[-1] :]
    if given is None or any(isinstance(step, _TOLD_BY_ROWS) for step in plain):
        return None
    return output_schema(plain, given)
