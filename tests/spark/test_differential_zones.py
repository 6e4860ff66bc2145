"""A sample of what `python -m tests.differential --kind zones` compares."""

from __future__ import annotations

from random import Random

from tests.differential.kind import World
from tests.differential.kinds.zones import Kind


def test_a_zone_gives_what_spark_gives(glue_context, tmp_path):
    kind = Kind(tables=4, checks=["casts", "functions"])
    result = kind.round(Random("zones 2"), World(lambda: glue_context.spark_session, tmp_path))

    assert result.cases == 4
    assert result.differences == []
