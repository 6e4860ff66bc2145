"""A fixed sample of the differential kinds for files that need no Spark."""

from __future__ import annotations

from random import Random

import pytest

from tests.differential.kind import World
from tests.differential.registry import kind


def no_spark() -> None:
    raise AssertionError("this seed needs no Spark")


@pytest.mark.parametrize(("name", "seed"), [("json", 1), ("csv", 1), ("csv", 6)])
def test_files_are_read_as_python_reads_them(name, seed, tmp_path):
    sample = kind(name)
    sample.files = 25  # type: ignore[attr-defined]
    result = sample.round(Random(f"{name} {seed}"), World(no_spark, tmp_path))
    assert result.cases
    assert [each for each in result.differences if not each.explained] == []
