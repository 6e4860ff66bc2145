"""Finds the columns that some steps need, so that no others are read from a columnar file."""

from __future__ import annotations

from collections.abc import Iterable

from gluepot.frames.transforms.apply_mapping import ApplyMapping
from gluepot.frames.transforms.fields import SelectFields
from gluepot.frames.transforms.known_types import KnownTypes
from gluepot.frames.transforms.read_texts import ReadTexts
from gluepot.frames.transforms.steps import Stage, Step


def needed_columns(steps: Iterable[Step]) -> frozenset[str] | None:
    """Return the names, in lower case, of the columns that the first choosing step takes; None for all.

    Args:
        steps: from the input on. Before the choosing step there may only be what looks at each column for itself.
    """
    for one in steps:
        step = one.step if isinstance(one, Stage) else one
        match step:
            case ApplyMapping() | SelectFields():
                return frozenset(path[0].lower() for path in step.sources)
            case ReadTexts() | KnownTypes():
                continue
            case _:
                return None
    return None
