"""What can be said of the schema after some steps before any record is read."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from gluepot.frames.transforms.apply_mapping import ApplyMapping
from gluepot.frames.transforms.python_steps import MapRows
from gluepot.frames.transforms.steps import Stage, Step, output_schema
from gluepot.frames.transforms.unbox import Unbox

_TOLD_BY_ROWS = (MapRows, Unbox)


def known_schema(steps: Sequence[Step], given: pa.Schema | None) -> pa.Schema | None:
    """Return the schema that rows have after the steps; None where only the records tell.

    Args:
        steps: in order.
        given: schema before them; None if that is not known. An ApplyMapping that names every type tells it all the
            same, whatever it is given.
    """
    plain = [step.step if isinstance(step, Stage) else step for step in steps]
    told = [index for index, step in enumerate(plain) if isinstance(step, ApplyMapping) and step.names_every_type]
    if told:
        given, plain = pa.schema([]), plain[told[-1] :]
    if given is None or any(isinstance(step, _TOLD_BY_ROWS) for step in plain):
        return None
    return output_schema(plain, given)
