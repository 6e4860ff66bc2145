"""Runs the threads of a try in one process, as a script would, and reads what they wrote with DuckDB."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from awsglue.context import GlueContext
from awsglue.data_catalog import current_catalog
from awsglue.dynamicframe import DynamicFrame
from awsgluedq.transforms import EvaluateDataQuality
from gluepot.bookmarks.run_writer import WRITERS
from gluepot.catalog.values import Database, Table
from gluepot.core.errors import PermanentError
from gluepot.streaming.query import session
from tests.duck import duck
from tests.threads.plan import Reader, Try

DATABASE = "web"
RECORDS = (3, 17, 40, 120, 250)
"""How many records the topics hold."""


@dataclass(frozen=True, slots=True)
class World:
    """What all tries share.

    Args:
        glue_context: its session is the parent of the tries' sessions.
        bootstrap: of a real broker.
        topics: names of topics, with `RECORDS` records each.
        files: a folder with the same records as the largest topic, in JSON files.
    """

    glue_context: GlueContext
    bootstrap: str
    topics: tuple[str, ...]
    files: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a try ended.

    Args:
        error: what ended the job; empty if it succeeded.
        lost: what is missing, or there twice, though the job succeeded.
    """

    error: str
    lost: tuple[str, ...]


class _Wanted(Exception):
    pass


def run(world: World, planned: Try, folder: Path) -> Outcome:
    """Run a try in a session of its own, below a folder of its own. The environment names its state folder."""
    spark = world.glue_context.spark_session.newSession()
    context = GlueContext(spark)
    if planned.has_catalog:
        _fill_catalog(world)
    streams = session.StreamSession(drain=session.Drain(until_caught_up=True))
    session.install(streams)
    seen: list[str] = []
    works = [
        _Thread(world, context, number, reader, folder / str(number), seen)
        for number, reader in enumerate(planned.readers)
    ]
    pooled = [work for work in works if work.reader.in_pool]
    threads = [threading.Thread(target=work) for work in works if not work.reader.in_pool]
    with streams.thread_failures.uncaught(streams.stop.set), ThreadPoolExecutor(max(1, len(pooled))) as pool:
        for thread in threads:
            thread.start()
        for work in pooled:
            pool.submit(work)
        for thread in threads:
            thread.join()
    try:
        streams.thread_failures.raise_first()
        WRITERS.finish()
    except PermanentError as error:
        return Outcome(str(error), ())
    finally:
        session.install(session.StreamSession())
    lost = [fault for work in works for fault in work.faults()]
    return Outcome("", (*lost, *seen))


@dataclass(frozen=True, slots=True)
class _Thread:
    world: World
    context: GlueContext
    number: int
    reader: Reader
    folder: Path
    seen: list[str]

    def __call__(self) -> None:
        spark = self.context.spark_session
        context = GlueContext(spark) if self.reader.own_context else self.context
        view = f"numbers_{self.number}"
        spark.range(self.number + 1).createOrReplaceTempView(view)
        frame = self._opened(context)
        if self.reader.fault == "opened":
            raise _Wanted("after the stream was opened")
        if self.reader.files:
            self._copy_files(context)
        window = "no window" if self.reader.fault == "options" else "1 second"
        context.forEachBatch(
            frame=frame,
            batch_function=lambda rows, batch_id: self._work(context, rows, batch_id),
            options={
                "windowSize": window,
                "checkpointLocation": str(self.folder / "checkpoint"),
                "batchMaxRetries": 0,
            },
        )
        if spark.sql(f"SELECT count(*) AS n FROM {view}").first()["n"] != self.number + 1:
            self.seen.append(f"the view {view} is another thread's")

    def _opened(self, context: GlueContext) -> Any:
        given = {"startingOffsets": "earliest", "addRecordColumns": "topic"}
        given |= {"schema": "id BIGINT"} if self.reader.is_declared else {"inferSchema": "true"}
        if self.reader.from_catalog:
            return context.create_data_frame.from_catalog(
                DATABASE, f"events_{self.reader.topic}", additional_options=given
            )
        given |= {"bootstrap.servers": self.world.bootstrap, "topicName": self._topic, "classification": "json"}
        return context.create_data_frame.from_options(connection_type="kafka", connection_options=given)

    @property
    def _topic(self) -> str:
        return self.world.topics[self.reader.topic]

    def _work(self, context: GlueContext, rows: Any, batch_id: int) -> None:
        if self.reader.fault == "function":
            raise _Wanted("in the function")
        match self.reader.work:
            case "write":
                self._write(context, DynamicFrame.fromDF(rows, context, "rows"))
            case "count":
                if rows.count() > 0:
                    self._write(context, DynamicFrame.fromDF(rows, context, "rows"))
            case "sql":
                rows.createOrReplaceTempView("events")
                of_topic = rows.sparkSession.sql(f"SELECT * FROM events WHERE topic = '{self._topic}'")
                self._write(context, DynamicFrame.fromDF(of_topic, context, "rows"))
            case "two":
                self._write_twice(context, rows)
            case "checked":
                frame = DynamicFrame.fromDF(rows, context, "rows")
                self._check(frame, rows.count())
                self._write(context, frame)
            case "catalogued":
                sink = context.getSink(
                    "s3", path=str(self.folder / "out-0"), enableUpdateCatalog=True, transformation_ctx="sink"
                )
                sink.setFormat("glueparquet")
                sink.setCatalogInfo(DATABASE, f"copy_{self.number}")
                sink.writeFrame(DynamicFrame.fromDF(rows, context, "rows"))

    def _write(self, context: GlueContext, frame: DynamicFrame, number: int = 0) -> None:
        context.write_dynamic_frame.from_options(
            frame=frame,
            connection_type="s3",
            connection_options={"path": str(self.folder / f"out-{number}")},
            format="glueparquet",
            transformation_ctx=f"sink{number}",
        )

    def _write_twice(self, context: GlueContext, rows: Any) -> None:
        def write(number: int) -> None:
            given = rows if number else rows.filter("topic IS NOT NULL")
            self._write(context, DynamicFrame.fromDF(given, context, "rows"), number)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _check(self, frame: DynamicFrame, rows: int) -> None:
        checked = EvaluateDataQuality().process_rows(
            frame=frame,
            ruleset=f'Rules = [ CustomSql "select count(*) from primary" = {rows} ]',
            publishing_options={"dataQualityEvaluationContext": f"check_{self.number}"},
        )
        (outcome,) = checked["ruleOutcomes"].toDF().collect()
        if outcome.Outcome != "Passed":
            self.seen.append(f"a rule of thread {self.number} saw {outcome.EvaluatedMetrics}, not {rows} rows")

    def _copy_files(self, context: GlueContext) -> None:
        frame = context.create_dynamic_frame.from_options("s3", {"paths": [str(self.world.files)]}, "json")
        self._write(context, frame, 9)

    def faults(self) -> list[str]:
        """Return what is not as it should be in the folders that the thread wrote to."""
        wanted = list(range(RECORDS[self.reader.topic]))
        outputs = {f"out-{number}": wanted for number in range(2 if self.reader.work == "two" else 1)}
        if self.reader.files:
            outputs["out-9"] = list(range(RECORDS[-1]))
        return [
            f"{self.folder}/{name} has {len(found)} rows of {len(ids)}"
            for name, ids in outputs.items()
            if (found := _ids(self.folder / name)) != ids
        ]


def _ids(folder: Path) -> list[int]:
    files = [str(path) for path in folder.rglob("*.parquet")]
    return (
        [row[0] for row in duck().execute("SELECT id FROM read_parquet(?) ORDER BY id", [files]).fetchall()]
        if files
        else []
    )


def _fill_catalog(world: World) -> None:
    catalog = current_catalog()
    catalog.add_database(Database(DATABASE))
    for number, topic in enumerate(world.topics):
        about = {"typeOfData": "kafka", "topicName": topic, "bootstrap.servers": world.bootstrap}
        body = {
            "StorageDescriptor": {"Columns": [{"Name": "id", "Type": "bigint"}], "Parameters": about},
            "Parameters": {"classification": "json"},
        }
        catalog.add_table(Table(DATABASE, f"events_{number}", body))


def new_world(glue_context: GlueContext, bootstrap: str, folder: Path, name: str) -> World:
    """Fill topics and files with numbered records, by a client that is not the product's."""
    from kafka import KafkaAdminClient, KafkaProducer

    topics = tuple(f"{name}-{number}" for number in range(len(RECORDS)))
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics({topic: {"num_partitions": 2, "replication_factor": 1} for topic in topics})
    admin.close()
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    for topic, records in zip(topics, RECORDS, strict=True):
        for number in range(records):
            producer.send(topic, json.dumps({"id": number}).encode(), partition=number % 2)
    producer.flush()
    producer.close()
    files = folder / "files"
    files.mkdir()
    for part in range(2):
        lines = [json.dumps({"id": number}) for number in range(part, RECORDS[-1], 2)]
        (files / f"{part}.json").write_text("\n".join(lines))
    return World(glue_context, bootstrap, topics, files)


def judged(planned: Try, outcome: Outcome) -> str:
    """Return what is wrong with a try; empty if nothing is. Pure."""
    if outcome.lost:
        return f"seed {planned.seed}: the job succeeded, and {'; '.join(outcome.lost)}"
    if planned.must_fail and not outcome.error:
        return f"seed {planned.seed}: a thread failed, and the job succeeded"
    if outcome.error and not planned.must_fail:
        return f"seed {planned.seed}: the job failed: {outcome.error}"
    return ""
