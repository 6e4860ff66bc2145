"""A random sample of rows (docs/glue 6.2, spigot)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from gluepot.frames.chunk import Chunk


@dataclass(frozen=True, slots=True)
class SampleRows:
    """Keeps each row with the same probability.

    Args:
        probability: 0 to 1.
        seed: decides which; chunks of equal size lose the rows at the same places.
    """

    probability: float
    seed: int

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the kept rows; the errors stay."""
        rows = chunk.batch.num_rows
        drawn = np.random.default_rng([self.seed, rows]).random(rows)
        return chunk.filtered(pa.array(drawn < self.probability))
