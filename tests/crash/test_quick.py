"""Kill points of jobs: nothing lost, doubled, invented.

- With tables on the local disk a job meets every kill point.
- With tables in S3 it meets those at which S3 holds another part of the open batch: tasks that write (4), the move of
  some files (6), all files moved (7) and the manifest created (8). `test_s3_points.py`, a part of `make test-long`,
  meets all of them with tables in S3. When all files are closed (5), S3 holds what it holds in the middle of the
  writing, only more of it; when the function has returned (9) and at the clean-up (12), what it holds at 8, less what
  is cleaned up. After a kill at one of the others the next start reads only the checkpoint, which is on the local disk
  with these tables as well, so it does what it does with local tables: before and after the offset log (1, 2), in the
  function before any action (3), the commit log's temporary (10), after the commit log (11), the wait before a retry
  (13), the shutdown (14), the end of the job (15) and the handover (16).
- Of a Kinesis stream, which is split and merged meanwhile, only those points where its reading differs.
- Of a job whose attempts go different ways only those where it matters what the attempt before has written.

Random kills are in `test_random_kills.py`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

import pytest

from tests.crash.campaign import Plan, run
from tests.crash.checker import Verdict
from tests.crash.outcome import Outcome
from tests.crash.points import Point, points_of
from tests.crash.servers import new_streams
from tests.crash.suite import run_all
from tests.crash.world import ANY_ORDER, COPY

KINESIS_POINTS = [
    point for point in points_of("kinesis", COPY) if point.failpoint in {"task.written", "spool.part_written"}
]
KINESIS_KILLS, RESHARDS = ("group", "worker"), 2
ANY_ORDER_POINTS = [
    point for point in points_of("local", ANY_ORDER) if point.failpoint in {"publish.created", "settle.taking_back"}
]
LIKE_OTHERS = {5, 9, 12}
SEED = int(os.environ.get("GLUEPOT_CRASH_SEED", "20261121"))


def is_quick(lane: str, point: Point) -> bool:
    return lane == "local" or (point.in_storage and point.number not in LIKE_OTHERS)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Outcome]:
    print(f"seed {SEED}; GLUEPOT_CRASH_SEED=N runs another one")
    folder = tmp_path_factory.mktemp("crash")
    return run_all(
        seed=SEED, lanes=["local", "s3"], aims=[], kills=0, points=is_quick, at_once=2, folder=folder, say=print
    )


def test_nothing_was_lost_doubled_or_invented_and_nothing_else_went_wrong(outcomes):
    assert [(one.name, one.by_folder, one.by_manifest, one.faults) for one in outcomes if not one.right] == []
    assert all(one.records > 0 and one.by_folder.rows > 0 for one in outcomes)


@pytest.mark.parametrize("lane", ["local", "s3"])
def test_every_chosen_kill_point_fired(outcomes, lane):
    fired = {kill.what for one in outcomes if one.lane == lane for kill in one.kills if kill.fired and kill.where}
    assert fired == {f"{point.number} {point.what}" for point in points_of(lane, COPY) if is_quick(lane, point)}


def test_a_reader_of_manifests_looked_while_jobs_were_killed(outcomes):
    assert all(one.looks > one.starts for one in outcomes)


def test_nothing_of_a_dead_attempt_is_left_in_the_tables(outcomes):
    assert sum(one.leftovers for one in outcomes) == 0


@pytest.mark.skipif(shutil.which("cargo") is None, reason="the model needs cargo (Debian: apt-get install cargo)")
def test_the_model_of_the_commit_protocol_allows_what_the_s3_server_carried_out(outcomes):
    assert sum(one.modelled for one in outcomes) > 100


@pytest.fixture(scope="module")
def of_kinesis(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("crash-kinesis")
    plan = Plan("quick-kinesis", "kinesis", COPY, f"{SEED}:quick", KINESIS_POINTS, KINESIS_KILLS, RESHARDS)
    with new_streams({"kinesis"}, folder) as new_stream:
        return run(plan, new_stream["kinesis"](), folder / plan.name, print)


def test_nothing_of_a_stream_was_lost_doubled_or_invented_and_nothing_else_went_wrong(of_kinesis):
    assert (of_kinesis.by_folder, of_kinesis.by_manifest, of_kinesis.faults) == (
        Verdict(of_kinesis.records, 0, 0, 0),
        Verdict(of_kinesis.records, 0, 0, 0),
        [],
    )


def test_the_stream_was_split_and_merged_while_its_job_was_killed(of_kinesis):
    assert of_kinesis.reshards == RESHARDS
    assert [kill.fired for kill in of_kinesis.kills] == [True] * (len(KINESIS_POINTS) + len(KINESIS_KILLS))
    assert of_kinesis.looks > of_kinesis.starts
    assert of_kinesis.leftovers == 0


@pytest.fixture(scope="module")
def in_any_order(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("crash-any-order")
    plan = Plan("quick-any-order", "local", ANY_ORDER, f"{SEED}:any-order", ANY_ORDER_POINTS)
    with new_streams({"kafka"}, folder) as new_stream:
        return run(plan, new_stream["kafka"](), folder / plan.name, print)


def test_a_batch_is_what_its_last_attempt_wrote_where_attempts_go_different_ways(in_any_order):
    # A record is in the first two tables, rejected or not, and in the third one if its kind is the right one.
    assert in_any_order.by_folder == in_any_order.by_manifest
    assert (in_any_order.right, in_any_order.faults, in_any_order.leftovers) == (True, [], 0)
    assert 2 * in_any_order.records < in_any_order.by_folder.rows < 3 * in_any_order.records
    assert in_any_order.attempts > in_any_order.batches
    assert [kill.fired for kill in in_any_order.kills] == [True] * len(ANY_ORDER_POINTS)
