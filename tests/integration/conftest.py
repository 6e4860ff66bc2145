from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import duckdb
import pytest
from kafka import KafkaConsumer, KafkaProducer

from gluepot.bookmarks import jobrun
from gluepot.core.clock import SystemClock
from gluepot.servers.topics import create_topic
from tests.integration.jdbc import TableJob
from tests.moto_server import moto_endpoint
from tests.postgresql import new_database


@pytest.fixture
def orders(glue_context, postgresql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TableJob]:
    """A job over an empty database, with its ledger in the test's folder."""
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_LEDGER", raising=False)
    with new_database(postgresql) as url:
        yield TableJob(glue_context, url)
        jobrun.end("the test ended")


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


@dataclass
class Topic:
    """A topic of one test, written by a client that is not the product's."""

    bootstrap: str
    name: str
    producer: KafkaProducer

    def send(
        self, *values: bytes | None, partition: int | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> None:
        sent = [
            self.producer.send(self.name, value, key=str(n).encode(), partition=partition, headers=list(headers))
            for n, value in enumerate(values)
        ]
        self.producer.flush()
        for one in sent:
            one.get(timeout=30)

    def send_json(self, *documents: object, partition: int | None = None) -> None:
        self.send(*(json.dumps(document).encode() for document in documents), partition=partition)

    def consumed(self, count: int) -> list[Any]:
        """The first records of the topic, as a client reads them that is not the product's either."""
        consumer = KafkaConsumer(self.name, bootstrap_servers=self.bootstrap, auto_offset_reset="earliest")
        try:
            return [next(consumer) for _ in range(count)]
        finally:
            consumer.close()

    def options(self, **more: Any) -> dict[str, Any]:
        return {
            "bootstrap.servers": self.bootstrap,
            "topicName": self.name,
            "startingOffsets": "earliest",
            "classification": "json",
            "inferSchema": "true",
            **more,
        }


@pytest.fixture
def new_topic(kafka: str) -> Iterator[Callable[..., Topic]]:
    producers: list[KafkaProducer] = []

    def new(partitions: int = 2, config: dict[str, str] | None = None) -> Topic:
        name = f"t-{uuid4().hex[:8]}"
        create_topic(kafka, name, partitions, config)
        producers.append(KafkaProducer(bootstrap_servers=kafka, acks="all", max_request_size=16 << 20))
        return Topic(kafka, name, producers[-1])

    yield new
    for producer in producers:
        producer.close()


@pytest.fixture
def topic(new_topic: Callable[..., Topic]) -> Topic:
    return new_topic()


@dataclass
class Job:
    """A Glue job over one topic; `drain` runs it until everything sent so far is committed."""

    glue_context: Any
    folder: Path
    batches: list[Any] = field(default_factory=list)

    @property
    def table(self) -> Path:
        return self.folder / "table"

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    def write(self, frame: Any, **options: Any) -> None:
        self.glue_context.write_dynamic_frame.from_options(
            frame=frame,
            connection_type="s3",
            connection_options={"path": str(self.table), **options},
            format="glueparquet",
            transformation_ctx="sink",
        )

    def copy(self, data_frame: Any, batch_id: int) -> None:
        from awsglue import DynamicFrame

        self.write(DynamicFrame.fromDF(data_frame, self.glue_context, "frame"))

    def drain(self, options: dict[str, Any], function: Any = None, **settings: Any) -> list[Any]:
        from gluepot.streaming.query import session

        kind = settings.pop("connection_type", "kafka")
        seen: list[Any] = []
        drain = session.Drain(until_caught_up=True) if "drain" not in settings else settings.pop("drain")
        stop = settings.pop("stop", threading.Event())
        session.install(session.StreamSession(drain=drain, watchers=[seen.append], stop=stop))
        frame = self.glue_context.create_data_frame.from_options(connection_type=kind, connection_options=options)
        self.glue_context.forEachBatch(
            frame=frame,
            batch_function=function or self.copy,
            options={"windowSize": "1 second", "checkpointLocation": str(self.checkpoint), **settings},
        )
        self.batches += seen
        assert [fault for stats in seen for fault in stats.account.imbalances()] == []
        return seen

    def run_beside(
        self, act: Callable[[], None], options: dict[str, Any], function: Any = None, **settings: Any
    ) -> list[Any]:
        """Run the job, windows and all, for as long as a function takes in a thread of its own."""
        from gluepot.streaming.query import session

        stop, failures = threading.Event(), []

        def acting() -> None:
            try:
                act()
            except BaseException as error:  # noqa: BLE001  raised below, in the test
                failures.append(error)
            finally:
                stop.set()

        thread = threading.Thread(target=acting)
        thread.start()
        try:
            seen = self.drain(options, function, drain=session.ENDLESS, stop=stop, **settings)
        finally:
            thread.join()
        if failures:
            raise failures[0]
        return seen

    def published(self) -> int:
        """Rows of the table as its manifests say, also while the job writes."""
        manifests = (self.table / "_gluepot/commits").rglob("[!.]*.json")
        return sum(json.loads(path.read_text())["rows_out"] for path in manifests)

    def rows(self, columns: str = "*") -> list[tuple[Any, ...]]:
        """The table as DuckDB reads it; no row where there is no file."""
        files = [str(path) for path in self.table.rglob("*.parquet")]
        query = f"SELECT {columns} FROM read_parquet({files!r}, union_by_name=true, hive_partitioning=true)"
        return sorted(duckdb.sql(query).fetchall(), key=repr) if files else []

    def documents(self) -> list[str]:
        """The rows as JSON without nulls, keys sorted: equal for equal records however their columns are ordered."""
        files = [str(path) for path in self.table.rglob("*.parquet")]
        rows = duckdb.sql(f"SELECT to_json(t) FROM read_parquet({files!r}, union_by_name=true) t").fetchall()
        return sorted(json.dumps(without_nulls(json.loads(row)), sort_keys=True) for (row,) in rows)

    def rejects(self) -> list[dict[str, Any]]:
        files = [str(path) for path in self.table.rglob("*.rejects")]
        if not files:
            return []
        found = duckdb.sql(f"SELECT raw, stream, shard, position, reason FROM read_parquet({files!r})")
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


@dataclass
class Stream:
    """A Kinesis stream of one test, written by a client that is not the product's."""

    endpoint: str
    name: str
    client: Any

    def send(self, *values: bytes, keys: Sequence[str] = ()) -> None:
        pending = [{"Data": value, "PartitionKey": keys[n] if keys else str(n)} for n, value in enumerate(values)]
        for at in range(0, len(pending), 500):
            answer = self.client.put_records(StreamName=self.name, Records=pending[at : at + 500])
            assert not answer["FailedRecordCount"]

    def send_json(self, *documents: object) -> None:
        self.send(*(json.dumps(document).encode() for document in documents))

    def options(self, **more: Any) -> dict[str, Any]:
        return {
            "streamName": self.name,
            "endpointUrl": self.endpoint,
            "startingPosition": "TRIM_HORIZON",
            "classification": "json",
            "inferSchema": "true",
            **more,
        }

    def records(self) -> list[dict[str, Any]]:
        """What the stream holds, shard by shard, as boto3 reads it, with the shard's id beside."""
        found: list[dict[str, Any]] = []
        for shard in self.client.list_shards(StreamName=self.name)["Shards"]:
            at = self.client.get_shard_iterator(
                StreamName=self.name, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            while (answer := self.client.get_records(ShardIterator=at))["Records"]:
                found += [{**one, "ShardId": shard["ShardId"]} for one in answer["Records"]]
                at = answer["NextShardIterator"]
        return found

    def rest(self, secs: float) -> None:
        SystemClock().sleep(secs)

    def rest_until(self, reached: Callable[[], object], secs: float) -> None:
        """Return once something is true; fails if it is not, in time."""
        clock = SystemClock()
        deadline = clock.monotonic() + secs
        while not reached():
            assert clock.monotonic() < deadline, f"not within {secs:.0f} s"
            clock.sleep(0.1)

    @contextmanager
    def records_arriving(self, records: int = 20, pause_secs: float = 0.05) -> Iterator[list[int]]:
        """Send numbered records for as long as the context lasts; yields the numbers sent so far."""
        sent: list[int] = []
        done = threading.Event()

        def send() -> None:
            while not done.wait(pause_secs):
                numbers = range(len(sent), len(sent) + records)
                self.send_json(*({"n": n} for n in numbers))
                sent.extend(numbers)

        sender = threading.Thread(target=send)
        sender.start()
        try:
            yield sent
        finally:
            done.set()
            sender.join()


@pytest.fixture
def new_kinesis_stream(kinesis: str) -> Callable[..., Stream]:
    client = boto3.client("kinesis", endpoint_url=kinesis, region_name="us-east-1")

    def new(shards: int = 2) -> Stream:
        name = f"s-{uuid4().hex[:8]}"
        client.create_stream(StreamName=name, ShardCount=shards)
        client.get_waiter("stream_exists").wait(StreamName=name, WaiterConfig={"Delay": 1})
        return Stream(kinesis, name, client)

    return new


@pytest.fixture
def kinesis_stream(new_kinesis_stream: Callable[..., Stream]) -> Stream:
    return new_kinesis_stream()


@pytest.fixture
def job(glue_context: Any, tmp_path: Path) -> Job:
    return Job(glue_context, tmp_path)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with moto_endpoint() as url:
        yield url


@pytest.fixture
def client(endpoint: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    client.create_bucket(Bucket="lake")
    yield client
    for entry in client.list_objects_v2(Bucket="lake").get("Contents", []):
        client.delete_object(Bucket="lake", Key=entry["Key"])
    client.delete_bucket(Bucket="lake")
    client.close()
