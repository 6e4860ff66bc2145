"""`gluepot demo`: what a visitor runs first."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.e2e.jobs import launcher

SECONDS, RATE = 5, 1000
BROKEN_EVERY = 997


@pytest.fixture(scope="module", params=["kafka", "kinesis"])
def demo(request, tmp_path_factory):
    with launcher(tmp_path_factory.mktemp("demo")) as launch:
        job = launch.gluepot(
            "demo", "--seconds", str(SECONDS), "--rate", str(RATE), "--source", request.param, "--output", "json"
        )
        assert job.exit_code(secs=120) == 0, job.err
        yield json.loads(job.out)


def test_everything_that_was_produced_is_found_once(demo):
    assert demo["produced"] == SECONDS * RATE
    assert (demo["lost"], demo["duplicated"]) == (0, 0)


def test_what_was_broken_on_purpose_is_in_the_rejects(demo):
    broken = SECONDS * RATE // BROKEN_EVERY
    assert (demo["malformed"], demo["rejected"]) == (broken, broken)
    assert demo["rows"] == SECONDS * RATE - broken


def test_the_table_holds_what_the_demo_says(demo):
    with duckdb.connect() as db:
        files = f"read_parquet('{demo['table']}/**/*.parquet', union_by_name=true, hive_partitioning=true)"
        found = db.execute(
            f"SELECT count(*), count(DISTINCT event_id), count(DISTINCT country) FROM {files}"
        ).fetchall()
    assert found == [(demo["rows"], demo["rows"], 6)]


def test_the_column_that_appears_half_way_is_in_the_second_half_only(demo):
    with duckdb.connect() as db:
        files = f"read_parquet('{demo['table']}/**/*.parquet', union_by_name=true)"
        found = db.execute(f"SELECT min(event_id) FROM {files} WHERE referrer IS NOT NULL").fetchall()
    assert found == [(SECONDS * RATE // 2,)]


def test_the_batches_are_counted_and_timed(demo):
    assert demo["batches"] >= 1
    assert 0 < demo["p50_batch_seconds"] < 60
    assert 0 < demo["first_commit_seconds"] <= 60


def test_the_table_is_kept_for_the_visitor_to_look_at(demo):
    assert Path(demo["table"]).is_dir()
