"""A fixed sample of the differential test of accounts, see `make differential`."""

from random import Random

import pytest

from tests.differential.kind import World
from tests.differential.kinds.accounts import Kind


@pytest.mark.parametrize("seed", [3, 12])
def test_the_account_agrees_with_the_files(spark, tmp_path, seed):
    found = Kind(jobs=1).round(Random(seed), World(lambda: spark, tmp_path))

    assert found.cases >= 1
    assert found.differences == []
