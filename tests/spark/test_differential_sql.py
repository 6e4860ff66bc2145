"""A sample of the differential tests of queries and push-down predicates; `python -m tests.differential` runs more."""

from __future__ import annotations

from random import Random

import pytest

from tests.differential.kind import World
from tests.differential.kinds import predicates, sql


def test_random_queries_give_the_rows_of_spark(glue_context, tmp_path):
    found = sql.Kind().round(Random("sql 5"), World(lambda: glue_context.spark_session, tmp_path), queries=25)

    assert [one for one in found.differences if not one.explained] == []
    assert found.taken > 5


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 16))
def test_more_random_queries_give_the_rows_of_spark(glue_context, tmp_path, seed):
    found = sql.Kind().round(Random(f"sql {seed}"), World(lambda: glue_context.spark_session, tmp_path))

    assert [one for one in found.differences if not one.explained] == []


def test_random_predicates_choose_what_spark_chooses(glue_context, tmp_path):
    kind, world = predicates.Kind(), World(lambda: glue_context.spark_session, tmp_path)
    rounds = [kind.round(Random(f"predicates {seed}"), world) for seed in (1, 2)]

    assert [one for found in rounds for one in found.differences] == []
    assert sum(found.taken for found in rounds) > 50
