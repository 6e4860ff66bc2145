"""A step that measures the rows that pass it, so that a write and a check of what it writes share one pass."""

from __future__ import annotations

from dataclasses import dataclass

from gluepot.frames.chunk import Chunk
from gluepot.quality.measures import Measure, Measured, measure


@dataclass(frozen=True, slots=True)
class MeasureRows:
    """Measures rows. Whoever runs the step calls `of` as well and keeps the result under the step's name.

    Args:
        name: distinguishes the step from others of the pipeline.
        measures: what to measure.
    """

    name: str
    measures: tuple[Measure, ...]

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the chunk as it is."""
        return chunk

    def of(self, chunk: Chunk) -> Measured:
        """Return what is measured of the good rows of a chunk."""
        return measure(chunk.batch, self.measures)
