"""A fixed sample of the differential test of numbers; `python -m tests.differential --kind numbers` tries others."""

from __future__ import annotations

from random import Random

import pytest

from tests.differential.kind import World
from tests.differential.kinds.numbers import Kind


@pytest.mark.parametrize("seed", [1, 2])
def test_numbers_are_exact_in_every_cut_and_way(tmp_path, seed):
    kind = Kind()
    kind.share_of_spark = 0
    result = kind.round(Random(f"numbers {seed}"), World(lambda: None, tmp_path))
    assert result.differences == []
    assert result.cases > 200
