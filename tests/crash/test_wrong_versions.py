"""Versions that are wrong on purpose: the harness has to notice each of them, or it proves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import duckdb
import pytest

from tests.crash import servers
from tests.crash.checker import COMPARE, Expected, Verdict, check_files, check_folder
from tests.crash.journal import Journal, Sent, click_text, sha256
from tests.crash.lanes import LocalFolder, open_lane
from tests.crash.producer import Producer
from tests.crash.world import ANY_ORDER, COPY, Script, World

pytestmark = pytest.mark.long

END_SECS = 300.0
BATCH = 150
DISTINCT = COMPARE.replace("count(*) AS n", "1 AS n")


@pytest.fixture
def script() -> Script:
    return COPY


@pytest.fixture
def world(kafka: str, tmp_path: Path, script: Script) -> Iterator[World]:
    with open_lane("local", tmp_path) as lane:
        yield World(tmp_path, lane, script, servers.new_topic(kafka))


@dataclass(frozen=True)
class Scene:
    """A job over records that are sent when the test says so.

    Args:
        module: what is run instead of the product.
    """

    world: World
    module: str
    producer: Producer

    def send(self, count: int) -> None:
        self.producer.send(count)

    def run(self, failpoint: str = "") -> int | None:
        """Run until everything is read, or until the failpoint kills the job."""
        env = {"GLUEPOT_FAILPOINT": failpoint} if failpoint else {}
        driver = self.world.start("--until-caught-up", env=env, module=self.module)
        try:
            return driver.wait(END_SECS)
        finally:
            driver.kill_all()

    def forget_newest_batch(self) -> None:
        """Edit the checkpoint so that Spark plans its newest batch anew."""
        newest = str(self.world.done())
        for log in ("offsets", "commits"):
            (self.world.checkpoint / log / newest).unlink()
            (self.world.checkpoint / log / f".{newest}.crc").unlink(missing_ok=True)

    def verdict(self, table: str = "copied") -> Verdict:
        (expected,) = (one for one in self.world.script.tables if one.table == table)
        return check_folder(self.world.folder / "journal", self.world.tables[expected.table], expected)


@contextmanager
def scene_of(world: World, module: str) -> Iterator[Scene]:
    with closing(Journal(world.folder / "journal")) as journal:
        chance = Random(1)
        producer = Producer(world.stream.sender(chance), journal, chance, rate=1)
        with closing(producer):
            yield Scene(world, module, producer)


def test_publishing_before_anything_says_so_is_seen_as_doubled_records(world):
    with scene_of(world, "tests.crash.wrong.publish_before_manifest") as scene:
        scene.send(2 * BATCH)
        assert scene.run("publish.moved") == -9
        assert scene.run() == 0
        assert scene.verdict().doubled > 0


def test_committing_before_writing_is_seen_as_lost_records(world):
    with scene_of(world, "tests.crash.wrong.commit_before_write") as scene:
        scene.send(3 * BATCH)
        assert scene.run("plan.asked@3") == -9
        assert scene.run() == 0
        assert scene.verdict().lost > 0


@pytest.mark.parametrize(("module", "loses"), [("gluepot", False), ("tests.crash.wrong.skip_by_id", True)])
def test_skipping_by_batch_id_alone_is_seen_as_lost_records_and_the_product_loses_none(world, module, loses):
    with scene_of(world, module) as scene:
        scene.send(BATCH + BATCH // 2)
        assert scene.run() == 0
        scene.forget_newest_batch()
        scene.send(BATCH)
        assert scene.run() == 0
        assert (scene.verdict().lost > 0) == loses
        assert (scene.verdict().doubled, scene.verdict().invented) == (0, 0)


@pytest.mark.parametrize("script", [ANY_ORDER])
@pytest.mark.parametrize(("module", "doubles"), [("gluepot", False), ("tests.crash.wrong.take_nothing_back", True)])
def test_taking_nothing_back_is_seen_as_doubled_records_and_the_product_doubles_none(world, module, doubles):
    with scene_of(world, module) as scene:
        scene.send(BATCH)
        assert scene.run("batch.done") == -9
        assert scene.run() == 0
        assert (scene.verdict("timed").doubled > 0) == doubles
        assert scene.verdict().right


GOOD = [Sent("t", "0", str(n), "buy", sha256(click_text(n, "buy", n, "x"))) for n in range(5)]


def planted(folder: Path, ids: list[int]) -> LocalFolder:
    """A table with these rows."""
    folder.mkdir()
    with duckdb.connect() as db:
        rows = f"SELECT id AS event_id, 'buy' AS kind, id AS amount, 'x' AS text FROM (SELECT unnest({ids}) AS id)"
        db.execute(f"COPY ({rows}) TO '{folder}/a.parquet' (FORMAT parquet)")
    return LocalFolder(folder)


def judged(tmp_path: Path, ids: list[int], compare: str) -> Verdict:
    with closing(Journal(tmp_path / "journal")) as journal:
        journal.add(GOOD)
    table = planted(tmp_path / "table", ids)
    return check_files(tmp_path / "journal", table, ["a.parquet"], [], Expected("table"), compare)


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        ([0, 1, 2, 3, 4], Verdict(5, lost=0, doubled=0, invented=0)),
        ([0, 1, 2, 2, 3, 4], Verdict(6, lost=0, doubled=1, invented=0)),
        ([0, 1, 2, 2, 2, 4], Verdict(6, lost=1, doubled=2, invented=0)),
        ([0, 1, 2, 3, 4, 77], Verdict(6, lost=0, doubled=0, invented=1)),
    ],
)
def test_the_checker_counts_what_was_planted(tmp_path, ids, found):
    assert judged(tmp_path, ids, COMPARE) == found


def test_a_checker_that_makes_its_input_distinct_does_not_see_doubled_records(tmp_path):
    assert judged(tmp_path, [0, 1, 2, 2, 3, 4], DISTINCT).right
