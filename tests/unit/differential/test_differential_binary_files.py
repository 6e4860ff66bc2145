"""A few rounds of the differential kinds for files; `python -m tests.differential` runs more."""

from __future__ import annotations

from random import Random

import pytest

from tests.differential.kind import World
from tests.differential.kinds import cuts
from tests.differential.registry import kind


def test_records_are_the_same_in_every_cut(tmp_path):
    kind = cuts.Kind(tables=4, with_spark=False)
    result = kind.round(Random("cuts 1"), World(lambda: pytest.fail("no Spark is needed"), tmp_path))
    assert result.differences == []


@pytest.mark.parametrize("name", ["avro", "ion", "parquet", "xml"])
def test_files_are_read_as_another_library_reads_them(tmp_path, name):
    world = World(lambda: pytest.fail("no Spark is needed"), tmp_path)
    result = kind(name).round(Random(f"{name} 1"), world)
    assert result.taken > result.cases / 2
    assert result.differences == []
