"""The kill points of the protocol: how each is reached, and what must be seen on the disk when it was.

The numbers are those of the crash test's specification:

 1 before the offset log            7 manifest temporary written         13 wait before a retry
 2 after the offset log             8 manifest created                   14 shutdown
 3 in the function, no action yet   9 function returned, no commit log   15 bookmark temporary written
 4 tasks writing                   10 commit log's temporary             16 control-plane state write
 5 files closed, not published     11 after the commit log
 6 after the move of file i        12 clean-up of old batches

and of a Kinesis stream, which is read ahead into files: 17 a file of the spool, not renamed yet; of a batch whose
attempts go different ways: 18 an earlier attempt's write about to be taken back; of tables in a database, instead of 4 to
8 and 12: 19 rows staged, 20 all statements sent and the transaction not committed, 21 the transaction committed.

Inside of Spark there are no failpoints. What lies in there is reached from our side of the same instant (1, 2, 9, 11),
or made from it by putting down the file that Spark would have left (10).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from random import Random
from typing import Literal

from tests.crash.world import ANY_ORDER, Script, World

Stir = Literal["nothing", "trouble", "sigterm", "drain"]

FILES, DATABASE = ("local", "s3", "kinesis", "fan-out"), ("postgresql", "mariadb")
EVERYWHERE = FILES + DATABASE


@dataclass(frozen=True, slots=True)
class Point:
    """A place to kill a job at.

    Args:
        number: see above.
        what: what it stands for.
        failpoint: where our code is when it happens.
        nth: the times the place is reached before it counts, drawn from this range.
        seen: whether checkpoint and table look as they must after a kill there.
        in_worker: the place is in a task; the process stops there, and the harness kills all of them.
        stir: what brings the job there.
        edit: makes the disk look as after a kill within Spark.
        nearest: why this is not the thing itself; empty if it is.
        lanes: that have it.
        in_storage: what the next start does after a kill there depends on what the storage of the tables then holds of
            the open batch. After a kill at any other point it depends on the checkpoint alone, which is on the local
            disk in every lane.
        in_any_order: only jobs have it whose attempts go different ways.
    """

    number: int
    what: str
    failpoint: str
    nth: tuple[int, int]
    seen: Callable[[World], bool]
    in_worker: bool = False
    stir: Stir = "nothing"
    edit: Callable[[World], None] | None = None
    nearest: str = ""
    lanes: Collection[str] = EVERYWHERE
    in_storage: bool = False
    in_any_order: bool = False

    def is_met(self, lane: str, script: str) -> bool:
        """Whether a job with such a script, by its file, comes there in a lane."""
        return lane in self.lanes and (not self.in_any_order or script == ANY_ORDER.file)

    def armed(self, chance: Random) -> str:
        """The value of GLUEPOT_FAILPOINT."""
        return f"{self.failpoint}@{chance.randint(*self.nth)}"


def _between_batches(world: World) -> bool:
    return world.planned() == world.done()


def _batch_open(world: World) -> bool:
    return world.planned() == world.done() + 1


def _open_and_staged(world: World) -> bool:
    return _batch_open(world) and any("/staging/" in key for key in world.unpublished_files())


def _open_and_writing(world: World) -> bool:
    # An object is there once it is complete, and a task's files are sent by threads while it writes on: in S3 there may
    # be none yet.
    return _batch_open(world) if world.lane.name == "s3" else _open_and_staged(world)


def _open_with_intent(world: World) -> bool:
    return _batch_open(world) and any("/intents/" in key for key in world.unpublished_files())


def _open_and_published(world: World) -> bool:
    return _batch_open(world) and world.published(world.planned())


def _commit_temporary(world: World) -> bool:
    return _batch_open(world) and any((world.checkpoint / "commits").glob(".*.tmp"))


def _spool_temporary(world: World) -> bool:
    return any((world.folder / "tmp").glob("gluepot-stream-*/spool/*/*/*.part"))


def _always(_: World) -> bool:
    return True


def _tear_commit(world: World) -> None:
    """Leave what Spark's log writer leaves: the new entry's first bytes under a hidden name, not renamed yet."""
    commits = world.checkpoint / "commits"
    commits.mkdir(exist_ok=True)
    (commits / f".{world.planned()}.5a7c1f0e-0000-4000-8000-000000000000.tmp").write_text("v1\n{")


POINTS = [
    Point(
        1,
        "before the offset log",
        "plan.made",
        (1, 2),
        _between_batches,
        nearest="the planner has made batch N and Spark has not been told: equal in effect",
    ),
    Point(
        2,
        "after the offset log",
        "batch.planned",
        (1, 3),
        _batch_open,
        nearest="the first line of ours that Spark calls after it wrote offsets/N",
    ),
    Point(3, "in the function, before any action", "batch.entered", (1, 3), _batch_open),
    Point(4, "tasks writing", "task.written", (1, 4), _open_and_writing, in_worker=True, lanes=FILES, in_storage=True),
    Point(5, "files closed, not published", "batch.staged", (1, 2), _open_and_staged, lanes=FILES, in_storage=True),
    Point(6, "after the move of file i", "storage.moved", (1, 12), _open_with_intent, lanes=FILES, in_storage=True),
    Point(
        7,
        "manifest temporary written",
        "publish.manifest_temp",
        (1, 2),
        _open_with_intent,
        nearest="all files moved, the manifest about to be created; its temporary is a name no reader opens",
        lanes=FILES,
        in_storage=True,
    ),
    Point(
        8,
        "manifest created, function not returned",
        "publish.created",
        (1, 2),
        _open_and_published,
        lanes=FILES,
        in_storage=True,
    ),
    Point(9, "function returned, before the commit log", "batch.done", (1, 3), _open_and_published, in_storage=True),
    Point(
        10,
        "commit log's temporary",
        "batch.done",
        (1, 2),
        _commit_temporary,
        edit=_tear_commit,
        nearest="killed at 9, then commits/.N.*.tmp is put down as Spark would have left it",
    ),
    Point(
        11,
        "after the commit log",
        "plan.asked",
        (3, 4),
        _between_batches,
        nearest="the first line of ours that Spark calls after it wrote commits/N",
    ),
    Point(
        12,
        "clean-up of old batches",
        "publish.ended",
        (1, 2),
        _open_and_published,
        nearest="our own clean-up of staging and intents; Spark's purge of its logs is met by the random kills only",
        lanes=FILES,
        in_storage=True,
    ),
    Point(13, "wait before a retry", "retry.counted", (1, 1), _batch_open, stir="trouble"),
    Point(14, "shutdown", "query.ending", (1, 1), _always, stir="sigterm"),
    Point(
        15,
        "bookmark temporary written",
        "job.commit_called",
        (1, 1),
        _always,
        stir="drain",
        nearest="job.commit() as it begins; tests/e2e/test_bookmarked_crashes.py kills inside of it",
    ),
    Point(
        16,
        "control-plane state write",
        "handover.part_written",
        (1, 1),
        _always,
        nearest="there is no control plane yet; the handover file between driver and planner, before its rename",
    ),
    Point(
        17,
        "spool file's temporary written",
        "spool.part_written",
        (1, 6),
        _spool_temporary,
        lanes=["kinesis", "fan-out"],
    ),
    Point(
        18,
        "earlier attempt about to be taken back",
        "settle.taking_back",
        (1, 1),
        _open_and_published,
        stir="trouble",
        in_storage=True,
        in_any_order=True,
    ),
    Point(19, "rows staged, not published", "jdbc.staged", (1, 3), _open_and_staged, lanes=DATABASE, in_storage=True),
    Point(
        20, "transaction not committed", "jdbc.publishing", (1, 3), _open_and_staged, lanes=DATABASE, in_storage=True
    ),
    Point(
        21,
        "transaction committed, function not returned",
        "jdbc.published",
        (1, 3),
        _open_and_published,
        lanes=DATABASE,
        in_storage=True,
    ),
]

# Chooses, by lane and point, the kill points that a run meets.
Choice = Callable[[str, Point], bool]


def every_point(_lane: str, _point: Point) -> bool:
    """Choose all points."""
    return True


def no_point(_lane: str, _point: Point) -> bool:
    """Choose none of the points."""
    return False


def points_of(lane: str, script: Script) -> list[Point]:
    """The kill points that a job has in a lane."""
    return [point for point in POINTS if point.is_met(lane, script.file)]
