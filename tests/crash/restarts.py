"""`python -m tests.crash.restarts`: from kill -9 to the next batch committed, beside stock PySpark in the same run.

The sides take turns on one topic. Each is killed, all of its processes, just after a batch was committed. The clock runs
from its next start until Spark has written the next entry of the commit log. Every restart counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from gluepot.servers import jars
from tests.crash import servers
from tests.crash.driver import Driver, wait_until
from tests.crash.journal import Journal
from tests.crash.lanes import open_lane
from tests.crash.producer import Producer
from tests.crash.report import versions
from tests.crash.world import COPY, SCRIPTS, World

ROOT = Path(__file__).parents[2]
COMMIT_SECS = 600.0
RECORDS_PER_SEC = 10


@dataclass
class Side:
    """One of those compared.

    Args:
        start: starts its job.
        commits: the folder of Spark's commit log.
        secs: what was measured.
    """

    name: str
    start: Callable[[], Driver]
    commits: Path
    secs: list[float] = field(default_factory=list)

    def newest(self) -> int:
        names = (path.name for path in self.commits.glob("[0-9]*"))
        return max((int(name) for name in names if name.isdecimal()), default=-1)

    def first_start(self) -> None:
        self._until_next_commit(self.start())

    def restart(self) -> None:
        """Bring the job to a commit, kill it, and take the time to the next one."""
        began = time.monotonic()
        self._until_next_commit(self.start())
        self.secs.append(time.monotonic() - began)

    def _until_next_commit(self, driver: Driver) -> None:
        newest = self.newest()
        try:
            wait_until(lambda: self.newest() > newest or not driver.runs(), f"a batch of {self.name}", COMMIT_SECS)
            assert driver.runs(), f"{self.name} ended with {driver.process.returncode}, see {driver.log}"
        finally:
            driver.kill_all()


def stock(folder: Path, bootstrap: str, topic: str, schema: str) -> Side:
    archives = ",".join(str(path) for path in jars.ensure("spark-kafka"))
    given = {"bootstrap": bootstrap, "topic": topic, "jars": archives, "folder": folder, "schema": schema}
    command = [sys.executable, SCRIPTS / "stock.py", *(f"--{name}={value}" for name, value in given.items())]
    return Side(
        f"stock PySpark, schema {schema}",
        lambda: Driver.start(command, folder, folder / "log"),
        folder / "checkpoint" / "commits",
    )


def quantile(secs: list[float], share: float) -> float:
    """The value that `share` of the measurements do not exceed; with few of them the 99th of a hundred is the largest."""
    ordered = sorted(secs)
    return ordered[min(len(ordered) - 1, round(share * len(ordered)))]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.restarts", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--report", type=Path)
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gluepot-restarts-")))
        bootstrap = stack.enter_context(servers.broker(folder / "kafka"))
        lane = stack.enter_context(open_lane("local", folder))
        topic = servers.new_topic(bootstrap)
        world = World(folder, lane, COPY, topic)
        journal = stack.enter_context(closing(Journal(folder / "journal")))
        chance = Random(1)
        producer = Producer(topic.sender(chance), journal, chance, RECORDS_PER_SEC)
        producer.send(1000)
        stack.enter_context(producer)
        sides = [Side("gluepot", world.start, world.checkpoint / "commits")]
        sides += [stock(folder / schema, bootstrap, topic.name, schema) for schema in ("given", "inferred")]
        for side in sides:
            side.first_start()
        loads = []
        for _ in range(asked.rounds):
            for side in sides:
                side.restart()
            loads.append(os.getloadavg()[0])
    result = {
        "rounds": asked.rounds,
        "cpus": os.cpu_count(),
        "load_median": round(statistics.median(loads), 1),
        "versions": versions(ROOT),
        "secs": {side.name: [round(one, 2) for one in side.secs] for side in sides},
        "p50_secs": {side.name: round(statistics.median(side.secs), 2) for side in sides},
        "p99_secs": {side.name: round(quantile(side.secs, 0.99), 2) for side in sides},
    }
    text = json.dumps(result, indent=1)
    print(text)
    if asked.report:
        asked.report.write_text(text)


if __name__ == "__main__":
    main()
