"""A sample of what `python -m tests.differential --kind accounts` compares."""

from __future__ import annotations

from random import Random

import pytest

from tests.differential.kind import World
from tests.differential.kinds.accounts import Kind


@pytest.mark.parametrize("seed", [3, 12])
def test_the_account_agrees_with_the_files(glue_context, tmp_path, seed):
    result = Kind(jobs=1).round(Random(seed), World(lambda: glue_context.spark_session, tmp_path))

    assert result.cases >= 1
    assert result.differences == []
