"""The datasets that the rows of a pipeline come from. Pure."""

from __future__ import annotations

from gluepot.core.datasets import Dataset, folder_dataset
from gluepot.engine.pipeline import Pipeline, RangeInput, SplitInput


def origins_of(pipeline: Pipeline) -> tuple[Dataset, ...]:
    """Return the streams or the folders of files; empty if they are not known, as for rows of a DataFrame.

    A stream has no namespace here, because only its connector knows its address.
    """
    match pipeline.input:
        case RangeInput(ranges=ranges):
            return tuple(sorted({Dataset("", one.stream) for one in ranges}))
        case SplitInput(splits=splits):
            roots = {one.root for split in splits for one in getattr(split, "files", ())}
            return tuple(sorted(map(folder_dataset, roots)))
        case _:
            return ()
