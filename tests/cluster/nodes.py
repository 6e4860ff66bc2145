"""What runs on the hosts of a cluster: brokers, PostgreSQL, the S3 server, drivers; each is started again when it ends.

The programs of brokers and the settings of development brokers come from the product; nothing else here does.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, cast

import psutil

from gluepot.servers import jars
from gluepot.servers.kafka import JAR_SET
from gluepot.servers.kafka_settings import LOG4J2, broker_settings, java_command, properties
from gluepot.spark.java import ensure_java
from tests.balances import unbalanced
from tests.cluster.history import History
from tests.cluster.network import Network
from tests.crash.driver import Driver, Victim, job_command
from tests.crash.lanes import CREDENTIALS
from tests.crash.world import MANY, PURGE
from tests.postgresql import make_cluster, server_program

BROKER_PORT, CONTROLLER_PORT, S3_PORT, POSTGRESQL_PORT = 9092, 9093, 9000, 5432
AGAIN_SECS = {"driver": 10.0, "server": 1.0}
"""A process that has ended is started again after so long."""
LOOK_SECS = 0.3
CLUSTER_ID = "G" + urlsafe_b64encode(bytes(16)).decode().rstrip("=")[1:]
SCRIPT = Path(__file__).parent / "scripts" / "copy_to_both.py"
ROOT = Path(__file__).parents[2]
CLOCK = Path(__file__).with_name("clock.c")
LAST_LINES = 40
COUNTED = {"batches": "batch_done", "losses": "records_lost"}
"""Lines of a driver's log that a history counts."""


@dataclass
class Node(ABC):
    """A process, and its children, on a host.

    Args:
        name: of the host.
        network: that it is in.
        folder: what it has of its own.
        history: takes starts and ends.
    """

    name: str
    network: Network
    folder: Path
    history: History
    running: Driver | None = None
    starts: int = 0
    held: int = 0
    """While it is above 0, nobody starts it."""
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _paused: Counter[str] = field(default_factory=Counter)

    kind = "server"

    @property
    def address(self) -> str:
        return self.network.address(self.name)

    @property
    def log(self) -> Path:
        return self.folder / f"log.{self.starts}"

    @abstractmethod
    def command(self) -> tuple[Sequence[str | Path], Mapping[str, str]]:
        """Return what is run, and its environment."""

    def start(self) -> None:
        with self._lock:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.starts += 1
            command, env = self.command()
            self.history.note("started", host=self.name, start=self.starts)
            self.running = Driver.start(
                self.network.inside(self.name, command), self.folder, self.log, {"PYTHONPATH": str(ROOT), **env}
            )

    def runs(self) -> bool:
        return self.running is not None and self.running.runs()

    def members(self) -> list[psutil.Process]:
        """Its processes; children of a server may lead sessions of their own."""
        if self.running is None:
            return []
        with suppress(psutil.NoSuchProcess):
            server = psutil.Process(self.running.process.pid)
            return [server, *server.children(recursive=True)]
        return []

    def pause(self, what: str) -> None:
        """Stop its processes, or one of them, until `resume` is called as often."""
        self._paused[what] += 1
        for one in self._parts(what):
            with suppress(psutil.NoSuchProcess):
                one.suspend()

    def resume(self, what: str) -> None:
        self._paused[what] -= 1
        if self._paused[what] <= 0:
            for one in self._parts(what):
                with suppress(psutil.NoSuchProcess):
                    one.resume()

    def _parts(self, what: str) -> list[psutil.Process]:
        assert what == "all"
        return self.members()

    def kill(self, victim: str, chance: Random) -> bool:
        """SIGKILL it; False if there is nothing to kill."""
        assert victim == "group"
        found = self.members()
        for one in (*found, *found):  # again, for what was started between
            with suppress(psutil.NoSuchProcess):
                one.kill()
        if self.running is not None:
            self.running.process.wait()
        return bool(found)

    def ended(self) -> None:
        """Note that it has ended, once for each start."""
        assert self.running is not None
        code, self.running = self.running.process.returncode, None
        self.history.note("ended", host=self.name, start=self.starts, code=code, **self._last())

    def _last(self) -> dict[str, Any]:
        return {}

    def end(self) -> None:
        """Kill all of it, and let nobody start it again."""
        self.held += 1
        if self.running is not None:
            self.kill("group", Random(0))


@dataclass
class Broker(Node):
    """One of some brokers, each of which is a controller, too.

    Args:
        number: from 1.
        brokers: names of all.
        data: a folder that it may fill.
    """

    number: int = 1
    brokers: Sequence[str] = ()
    data: Path = Path()

    def command(self) -> tuple[Sequence[str | Path], Mapping[str, str]]:
        java, archives = ensure_java(os.environ), jars.ensure(JAR_SET)
        log4j2, settings = self.folder / "log4j2.xml", self.folder / "server.properties"
        log4j2.write_text(LOG4J2)
        settings.write_text(properties(self._settings()))
        if not (self.data / "meta.properties").exists():
            formats = java_command(java.java, archives, log4j2, "kafka.tools.StorageTool", "format")
            command = [*formats, "--config", str(settings), "--cluster-id", CLUSTER_ID]
            with (self.folder / "format").open("wb") as output:
                subprocess.run(command, check=True, stdout=output, stderr=output)
        return java_command(java.java, archives, log4j2, "kafka.Kafka", str(settings), options=["-Xmx256m"]), {}

    def _settings(self) -> dict[str, str]:
        copies = len(self.brokers)
        voters = ",".join(
            f"{n}@{self.network.address(one)}:{CONTROLLER_PORT}" for n, one in enumerate(self.brokers, start=1)
        )
        listeners = f"PLAINTEXT://{self.address}:{BROKER_PORT}"
        return {
            **broker_settings(BROKER_PORT, CONTROLLER_PORT, self.data),
            "node.id": str(self.number),
            "controller.quorum.voters": voters,
            "listeners": f"{listeners},CONTROLLER://{self.address}:{CONTROLLER_PORT}",
            "advertised.listeners": listeners,
            "default.replication.factor": str(copies),
            "min.insync.replicas": str(max(1, copies - 1)),
            "offsets.topic.replication.factor": str(copies),
            "transaction.state.log.replication.factor": str(copies),
            "unclean.leader.election.enable": "false",
            "replica.lag.time.max.ms": "4000",
            # So that a disk in memory holds a run.
            "log.index.size.max.bytes": "65536",
            "log.segment.bytes": "4194304",
        }


@dataclass
class Postgresql(Node):
    """PostgreSQL, which does not run as root.

    Args:
        disk: that it may fill.
    """

    disk: Path = Path()

    def url(self, database: str) -> str:
        return f"postgresql://postgres@{self.address}:{POSTGRESQL_PORT}/{database}"

    def prepare(self) -> None:
        initdb = server_program("initdb")
        assert initdb is not None
        self.disk.chmod(0o755)
        place = self.disk / "pg"
        place.mkdir()
        make_cluster(initdb, place / "data", "--no-sync", "--wal-segsize=1")
        with (place / "data" / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 10.77.0.0/24 trust\n")

    def command(self) -> tuple[Sequence[str | Path], Mapping[str, str]]:
        postgres = server_program("postgres")
        assert postgres is not None
        data = self.disk / "pg" / "data"
        (data / "postmaster.pid").unlink(missing_ok=True)  # as the scripts of a machine's start do
        settings = {
            "listen_addresses": self.address, "port": POSTGRESQL_PORT, "unix_socket_directories": data.parent,
            "fsync": "off", "shared_buffers": "16MB", "max_wal_size": "32MB", "min_wal_size": "4MB",
        }  # fmt: skip
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        as_nobody = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]
        return [*as_nobody, postgres, "-D", data, *options], {}


class ObjectStore(Node):
    """The S3 server. What it holds is in its memory, so it is paused and cut off and never killed."""

    @property
    def url(self) -> str:
        return f"http://{self.address}:{S3_PORT}"

    def command(self) -> tuple[Sequence[str | Path], Mapping[str, str]]:
        return [sys.executable, "-m", "tests.cluster.object_store", self.address, str(S3_PORT)], {}


@dataclass(frozen=True, slots=True)
class Job:
    """What both drivers run.

    Args:
        temp: its `TempDir`, on the disk that both have, with the checkpoint.
        bootstrap: of the brokers.
        topic: that it reads.
        batch_records: the most records of a batch.
        s3: URL of the S3 server.
        output: where the table of files lies.
        database: URL of the database with the table of rows.
        ledger: URL of the ledger.
        lease_secs: how long a lease lives.
        module: what is run; the product, or a wrong version of it.
        chance: whether batches run in workers, and `failOnDataLoss`, of each start.
    """

    temp: Path
    bootstrap: str
    topic: str
    batch_records: int
    s3: str
    output: str
    database: str
    ledger: str
    lease_secs: float
    module: str
    chance: Random

    @property
    def checkpoint(self) -> Path:
        return self.temp / "checkpoint"

    def owner(self) -> str | None:
        """The host that took the lease last."""
        for path in sorted(self.checkpoint.glob("gluepot/lease/*.json"), key=lambda one: -int(one.stem)):
            with suppress(OSError, ValueError):
                return str(json.loads(path.read_text())["host"])
        return None

    def done(self) -> int:
        """The newest batch in Spark's commit log, -1 before the first."""
        names = [path.name for path in (self.checkpoint / "commits").glob("[0-9]*")]
        return max((int(name) for name in names if name.isdecimal()), default=-1)


@dataclass(kw_only=True)
class DriverNode(Node):
    """A machine whose only task is to run the job, again whenever it ends.

    Args:
        job: what it runs.
        clock_secs: how far its clock is from the true time.
        clocks: the library by which its clock can be set; None for the true time.
        until_caught_up: whether the job ends when everything is read.
    """

    job: Job
    clock_secs: int = 0
    clocks: Path | None = None
    until_caught_up: bool = False

    kind = "driver"

    def command(self) -> tuple[Sequence[str | Path], Mapping[str, str]]:
        job = self.job
        topic = {
            "bootstrap.servers": job.bootstrap, "topicName": job.topic, "startingOffsets": "earliest",
            "classification": "json", "inferSchema": "true", "maxOffsetsPerTrigger": str(job.batch_records),
            "failOnDataLoss": job.chance.choice(["true", "false"]),
        }  # fmt: skip
        arguments = {
            "JOB_NAME": "cluster", "TempDir": job.temp, "connection_type": "kafka",
            "connection_options": json.dumps(topic), "output_path": job.output, "database": job.database,
            "conf": PURGE,
        }  # fmt: skip
        small = f"smallBatchRecords={0 if job.chance.random() < 0.3 else MANY}"
        options = ["--lease-secs", str(job.lease_secs), "--batch-option", small]
        options += ["--until-caught-up"] if self.until_caught_up else []
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        self.set_clock(self.clock_secs)
        env = {
            **CREDENTIALS, "AWS_ENDPOINT_URL": job.s3, "TMPDIR": str(temporary), "GLUEPOT_LEDGER": job.ledger,
            "GLUEPOT_STATE": str(self.folder / "state"), **self._clock_env(),
        }  # fmt: skip
        return job_command(SCRIPT, arguments, *options, module=job.module), env

    def _clock_env(self) -> dict[str, str]:
        return {} if self.clocks is None else {"LD_PRELOAD": str(self.clocks), "CLUSTER_CLOCK": str(self._clock)}

    @property
    def _clock(self) -> Path:
        return self.folder / "clock"

    def set_clock(self, secs: int) -> None:
        """Set its clock so far from the true time, also for what runs already."""
        self.clock_secs = secs
        file = os.open(self._clock, os.O_WRONLY | os.O_CREAT)
        try:
            os.pwrite(file, struct.pack("=q", secs), 0)  # never cut short: it is mapped
        finally:
            os.close(file)

    def members(self) -> list[psutil.Process]:
        return self.running.members() if self.running is not None else []

    def _parts(self, what: str) -> list[psutil.Process]:
        if self.running is None or what == "all":
            return self.members()
        if what == "jvm":
            return self.running.jvm()
        return [one for one in self.members() if one.pid == self.running.process.pid]

    def kill(self, victim: str, chance: Random) -> bool:
        return self.running is not None and self.running.kill(cast(Victim, victim), chance)

    def ended(self) -> None:
        if self.running is not None:
            self.running.kill_all()  # what a driver that was killed has left behind ends by itself, later
        super().ended()

    def _last(self) -> dict[str, Any]:
        log = self.log.read_text(errors="replace")
        message = last_message(log).replace(f"{self.folder.parent}/", "")
        counts = {name: log.count(f'"msg": "{said}"') for name, said in COUNTED.items()}
        return {"message": message, "unbalanced": unbalanced(self.log), **counts}

    def end(self) -> None:
        self.held += 1
        if self.running is not None:
            self.running.kill_all()


def last_message(log: str) -> str:
    """Return what a job told its user at its end: the text of an error, or its last line. Pure."""
    told = [line for line in log.splitlines() if line.strip()][-LAST_LINES:]
    for number in reversed(range(len(told))):
        if told[number].startswith("error: "):
            return " ".join(told[number:])
    return told[-1] if told else ""


class Keeper:
    """Starts nodes again that have ended, from a thread, unless somebody holds them down."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._done = threading.Event()
        self._waits: dict[str, float] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.error: BaseException | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        try:
            while not self._done.wait(LOOK_SECS):
                for node in self._nodes:
                    self._look(node)
        except BaseException as error:  # noqa: BLE001  reported by `stop`
            self.error = error

    def _look(self, node: Node) -> None:
        if node.runs():
            return
        if node.running is not None:
            node.ended()
            self._waits[node.name] = AGAIN_SECS[node.kind]
        if node.held > 0:
            return
        self._waits[node.name] = self._waits.get(node.name, 0.0) - LOOK_SECS
        if self._waits[node.name] <= 0:
            try:
                node.start()
            except OSError as full:  # its disk
                node.history.note("trouble", what=f"{node.name} could not be started: {full}")
                self._waits[node.name] = AGAIN_SECS[node.kind]


def has_compiler() -> bool:
    """Whether clocks can be set here, which takes a library of C."""
    return shutil.which("cc") is not None


def clock_library(folder: Path) -> Path | None:
    """Compile what gives a process another time of day; None without a compiler."""
    if not has_compiler():
        return None
    library = folder / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, CLOCK, "-ldl"], check=True, capture_output=True)
    return library


def tmpfs(folder: Path, size: str) -> Path:
    """Mount a small disk in memory."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=True)
    return folder


def fill(disk: Path) -> None:
    """Leave no room on a disk."""
    with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))


def empty(disk: Path) -> None:
    (disk / "ballast").unlink(missing_ok=True)
