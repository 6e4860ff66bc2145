"""One run: a cluster, a producer, readers, a nemesis; then the faults end and every record is counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import boto3
import psycopg
from botocore.config import Config
from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from kafka.errors import KafkaError

from tests.cluster.history import History
from tests.cluster.nemesis import Nemesis
from tests.cluster.network import Network
from tests.cluster.nodes import (
    BROKER_PORT,
    Broker,
    DriverNode,
    Job,
    Keeper,
    ObjectStore,
    Postgresql,
    clock_library,
    tmpfs,
)
from tests.cluster.readers import FileReader, Reader, RowReader, Trouble
from tests.cluster.schedule import DRIVERS, POSTGRESQL, S3, Fault
from tests.cluster.sender import PatientSender
from tests.crash.checker import Expected, check_database, check_folder, check_manifests
from tests.crash.database import PostgresqlDatabase
from tests.crash.driver import NotInTime, wait_until
from tests.crash.journal import Journal
from tests.crash.kafka_topic import KafkaTopic
from tests.crash.lanes import BUCKET, CREDENTIALS, S3Folder
from tests.crash.producer import Producer

TOPIC, PARTITIONS, DATABASE, LEDGER = "clicks", 3, "lake", "ledger"
FIRST_RECORDS, RECORDS_PER_SEC, BATCH_RECORDS = 300, 20, 150
LEASE_SECS = 8.0
READY_SECS, PROGRESS_SECS, CATCH_UP_SECS = 600.0, 300.0, 420.0
AFTER_SECS = 5.0
"""Records are sent for so long after the last fault."""
MOST_LAST_STARTS = 5
COPIED = Expected("copied")
CLOCKS_SECS = (-90, 45)
"""How far the drivers' clocks are apart at the beginning."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run to make.

    Args:
        seed: text; of data, faults and where batches run.
        secs: how long faults may last.
        faults: what happens.
        brokers: how many.
        module: what the drivers run.
    """

    seed: str
    secs: float
    faults: Sequence[Fault]
    brokers: int = 3
    module: str = "gluepot"


@dataclass(frozen=True)
class Cluster:
    """What runs, and where its readers look."""

    network: Network
    brokers: Sequence[Broker]
    postgresql: Postgresql
    store: ObjectStore
    drivers: Sequence[DriverNode]
    job: Job
    topic: KafkaTopic
    table: S3Folder
    shared: Path


def run(plan: Plan, folder: Path, history: History, say: Callable[[str], None]) -> None:
    """Make a run in a namespace of its own; what happens is in the history."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    with ExitStack() as stack:
        cluster = stack.enter_context(_cluster(plan, folder, history))
        say("servers are ready")
        nodes = [*cluster.brokers, cluster.postgresql, cluster.store, *cluster.drivers]
        journal = stack.enter_context(closing(Journal(folder / "journal")))
        data = Random(f"{plan.seed}:data")
        sender = PatientSender(cluster.topic, data, history)
        producer = stack.enter_context(closing(Producer(sender, journal, data, RECORDS_PER_SEC)))
        producer.send(FIRST_RECORDS)
        readers = [
            FileReader(history, cluster.table),
            RowReader(history, cluster.postgresql.url(DATABASE)),
        ]
        keeper = Keeper(nodes)
        try:
            _faults(plan, cluster, producer, readers, keeper, history, say)
        except (NotInTime, KafkaError, *Trouble) as stuck:
            history.note("stuck", what=f"{type(stuck).__name__}: {stuck}")
        for reader in readers:
            _note_ends(reader, history)
        _compare(cluster, folder / "journal", history)


def _note_ends(reader: Reader, history: History) -> None:
    """Note what made a reader end, which nothing should."""
    for fault in reader.faults:
        history.note("stuck", what=f"the reader of {reader.name}: {fault}")


def _faults(
    plan: Plan,
    cluster: Cluster,
    producer: Producer,
    readers: Sequence[Reader],
    keeper: Keeper,
    history: History,
    say: Callable[[str], None],
) -> None:
    with ExitStack() as stack:
        for reader in readers:
            stack.enter_context(reader)
        keeper.start()
        wait_until(lambda: all(reader.seen for reader in readers), "the first batch", READY_SECS)
        say("the first batch is there")
        stack.enter_context(_owners(cluster.job, history))
        producer.start()
        disks = {
            "checkpoint": cluster.shared,
            cluster.brokers[-1].name: cluster.brokers[-1].data,
            POSTGRESQL: cluster.postgresql.disk,
        }
        nodes = {node.name: node for node in (*cluster.brokers, cluster.postgresql, cluster.store, *cluster.drivers)}
        nemesis = Nemesis(cluster.network, nodes, disks, cluster.job, history, Random(f"{plan.seed}:nemesis"))
        nemesis.run(plan.faults, threading.Event())
        history.note("healed")
        healed = time.monotonic()
        before = cluster.job.done()
        say(f"the faults are over, at batch {before}")
        time.sleep(AFTER_SECS)
        producer.stop()
        producer.settle()
        wait_until(lambda: cluster.job.done() > before, "a batch after the last fault", PROGRESS_SECS)
        keeper.stop()
        _catch_up(cluster, history)
        say(f"everything is read, {time.monotonic() - healed:.0f} s later")


@contextmanager
def _owners(job: Job, history: History) -> Iterator[None]:
    """Note whenever another host has the lease."""
    done = threading.Event()

    def follow() -> None:
        last = None
        while not done.wait(0.5):
            if (owner := job.owner()) not in {None, last}:
                history.note("owner", host=owner)
                last = owner

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _catch_up(cluster: Cluster, history: History) -> None:
    """End both drivers; one of them reads all there is and ends by itself with 0."""
    first, second = cluster.drivers
    for driver in (first, second):
        driver.end()
        if driver.running is not None:
            driver.ended()
    first.until_caught_up = True
    deadline = time.monotonic() + CATCH_UP_SECS
    for _ in range(MOST_LAST_STARTS):
        first.start()
        assert first.running is not None
        code = first.running.wait(max(1.0, deadline - time.monotonic()))
        first.ended()
        if code == 0:
            history.note("settled")
            return
    raise NotInTime("the last start did not end with 0")


def _compare(cluster: Cluster, journal: Path, history: History) -> None:
    """Note what the tables hold, by those who know nothing of ours and by those who go by our records."""
    table = cluster.table.anew()
    database = PostgresqlDatabase(cluster.postgresql.url(DATABASE))
    comparisons: dict[str, Callable[[], Any]] = {
        "listing the folder": lambda: check_folder(journal, table, COPIED),
        "the manifests": lambda: check_manifests(journal, table, COPIED),
        "all rows": lambda: check_database(journal, database, COPIED, committed=False),
        "rows on record": lambda: check_database(journal, database, COPIED, committed=True),
    }
    for by, compared in comparisons.items():
        try:
            verdict = compared()
        except (FileNotFoundError, *Trouble) as error:
            history.note("stuck", what=f"{by}: {type(error).__name__}: {error}")
            continue
        history.note(
            "verdict",
            by=by,
            rows=verdict.rows,
            lost=verdict.lost,
            doubled=verdict.doubled,
            invented=verdict.invented,
        )


@contextmanager
def _cluster(plan: Plan, folder: Path, history: History) -> Iterator[Cluster]:
    names = [f"kafka-{number}" for number in range(1, plan.brokers + 1)]
    network = Network([*names, S3, POSTGRESQL, *DRIVERS])
    network.make(folder)
    brokers = [
        Broker(name, network, folder / name, history, number=number, brokers=names, data=folder / name / "data")
        for number, name in enumerate(names, start=1)
    ]
    tmpfs(brokers[-1].data, "192m")
    postgresql = Postgresql(POSTGRESQL, network, folder / POSTGRESQL, history, disk=tmpfs(folder / "pg-disk", "192m"))
    store = ObjectStore(S3, network, folder / S3, history)
    shared = tmpfs(folder / "shared", "32m")
    topic = KafkaTopic(",".join(f"{one.address}:{BROKER_PORT}" for one in brokers), TOPIC, PARTITIONS)
    prefix = "cluster/output"
    job = Job(
        temp=shared,
        bootstrap=topic.bootstrap,
        topic=TOPIC,
        batch_records=BATCH_RECORDS,
        s3=store.url,
        output=f"s3://{BUCKET}/{prefix}",
        database=postgresql.url(DATABASE),
        ledger=postgresql.url(LEDGER),
        lease_secs=LEASE_SECS,
        module=plan.module,
        chance=Random(f"{plan.seed}:batches"),
    )
    clocks = clock_library(folder)
    drivers = [
        DriverNode(name, network, folder / name, history, job=job, clock_secs=secs if clocks else 0, clocks=clocks)
        for name, secs in zip(DRIVERS, CLOCKS_SECS, strict=True)
    ]
    client = boto3.client(
        "s3",
        endpoint_url=store.url,
        region_name=CREDENTIALS["AWS_REGION"],
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        config=Config(connect_timeout=3, read_timeout=5, retries={"total_max_attempts": 1}),
    )
    table = S3Folder(client, f"{prefix}/copied", folder / "fetched")
    made = Cluster(network, brokers, postgresql, store, drivers, job, topic, table, shared)
    try:
        postgresql.prepare()
        for node in (*brokers, postgresql, store):
            node.start()
        _wait_ready(made, client)
        yield made
    finally:
        for node in (*drivers, *brokers, postgresql, store):
            node.end()
        client.close()


def _wait_ready(made: Cluster, client: Any) -> None:
    """Wait for all servers, and make bucket, databases and topic."""
    wait_until(lambda: _works(lambda: client.create_bucket(Bucket=BUCKET)), "the S3 server", READY_SECS)

    def databases() -> None:
        with psycopg.connect(made.postgresql.url("postgres"), autocommit=True) as connection:
            for name in (DATABASE, LEDGER):
                connection.execute(f"CREATE DATABASE {name}".encode())

    wait_until(lambda: _works(databases), "PostgreSQL", READY_SECS)

    def topic() -> None:
        admin = KafkaAdminClient(bootstrap_servers=made.topic.bootstrap.split(","))
        with closing(admin):
            admin.create_topics([NewTopic(TOPIC, PARTITIONS, len(made.brokers))])

    wait_until(lambda: _works(topic), "the brokers", READY_SECS)


def _works(do: Callable[[], object]) -> bool:
    try:
        do()
    except (KafkaError, OSError, *Trouble):
        return False
    return True
