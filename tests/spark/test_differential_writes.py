"""A sample of the differential tests of `df.write`; `python -m tests.differential --kind writes` runs more."""

from __future__ import annotations

from random import Random

import pytest

from tests.differential.kind import World
from tests.differential.kinds import writes


def test_random_writes_leave_the_files_of_spark(glue_context, tmp_path):
    world = World(lambda: glue_context.spark_session, tmp_path)
    found = writes.Kind().round(Random("writes 1"), world, writes=4)

    assert found.differences == []
    assert found.taken > 1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 16))
def test_more_random_writes_leave_the_files_of_spark(glue_context, tmp_path, seed):
    world = World(lambda: glue_context.spark_session, tmp_path)
    assert writes.Kind().round(Random(f"writes {seed}"), world).differences == []
