"""A sample of what `python -m tests.differential --kind casts` compares."""

from __future__ import annotations

from random import Random

from tests.differential.kind import World
from tests.differential.kinds.casts import Kind


def test_casts_give_what_spark_gives(glue_context, tmp_path):
    kind = Kind(rows=200, most_pairs=30)

    result = kind.round(Random("casts 1"), World(lambda: glue_context.spark_session, tmp_path))

    assert result.cases > 6_000
    assert [each for each in result.differences if not each.explained] == []
