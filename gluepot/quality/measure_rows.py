"""A step that measures the rows that pass it, so that a write and a check of what it writes share one pass."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from hashlib import sha256

from gluepot.frames.chunk import Chunk
from gluepot.quality.measures import Measure, Measured, measure


@dataclass(frozen=True, slots=True)
class MeasureRows:
    """Measures rows. Whoever runs the step calls `of` as well and keeps the result under the step's name.

    Args:
        name: the same for steps that measure the same.
        measures: what to measure.
    """

    name: str
    measures: tuple[Measure, ...]

    @classmethod
    def of_measures(cls, measures: tuple[Measure, ...]) -> MeasureRows:
        """Return the step that measures this."""
        return cls(sha256(pickle.dumps(measures)).hexdigest()[:16], measures)

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the chunk as it is."""
        return chunk

    def of(self, chunk: Chunk, before: Measured | None = None) -> Measured:
        """Return what is measured of the good rows of a chunk.

        Args:
            chunk: the chunk.
            before: what was measured of earlier chunks, if the result will be merged with it.
        """
        return measure(chunk.batch, self.measures, before)
