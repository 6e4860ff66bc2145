"""What cannot work is said in one sentence with the value and the next step."""

from __future__ import annotations

import re
from pathlib import Path
from random import SystemRandom
from uuid import uuid4

import pytest

from gluepot.connectors.kafka.admin import KafkaAdmin
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.core.errors import CheckpointError, ConfigError, TransientError
from gluepot.servers.ports import free_port
from gluepot.streaming.query import session
from gluepot.streaming.query.session import Drain, StreamSession
from tests.e2e.conftest import new_topic_at
from tests.e2e.jobs import SCRIPTS, arguments


@pytest.fixture
def stream(glue_context, tmp_path):
    """Run a query over a topic until it has caught up, in this process."""

    def run(topic, function, checkpoint: Path = tmp_path / "checkpoint", **options):
        session.install(StreamSession(drain=Drain(until_caught_up=True)))
        frame = glue_context.create_data_frame.from_options(
            connection_type="kafka",
            connection_options={
                "bootstrap.servers": topic.bootstrap,
                "topicName": topic.name,
                "startingOffsets": "earliest",
                "classification": "json",
                "inferSchema": "true",
            },
        )
        given = {"windowSize": "1 second", "checkpointLocation": str(checkpoint), **options}
        glue_context.forEachBatch(frame=frame, batch_function=function, options=given)

    yield run
    session.install(StreamSession())


def is_one_sentence(error: BaseException) -> bool:
    return "\n" not in str(error) and "Traceback" not in str(error) and len(str(error)) < 400


def test_a_missing_topic_is_2_and_one_sentence(launch, kafka, tmp_path):
    missing = f"missing-{uuid4().hex[:8]}"
    job = launch.hosted(
        "run", SCRIPTS / "number_stream.py", "--master", "local[2]", "--",
        *arguments(JOB_NAME="numbers", TempDir=tmp_path / "temp", output_path=tmp_path / "table"),
        *arguments(bootstrap=kafka, topic=missing, pause=0),
    )  # fmt: skip

    assert job.exit_code() == 2
    (sentence,) = job.sentences()
    assert sentence.startswith(f"error: Kafka at {kafka} has no topic {missing}; its topics are: ")


def test_a_broker_that_does_not_answer_is_named_with_host_and_port():
    bootstrap = f"127.0.0.1:{free_port(SystemRandom())}"
    settings = KafkaReadSettings.from_options({"bootstrap.servers": bootstrap, "topicName": "clicks"})

    with pytest.raises(TransientError, match=re.escape(f"Kafka at {bootstrap} did not answer within 1 s;")) as raised:
        KafkaAdmin(settings, deadline_secs=1.0).check()

    assert is_one_sentence(raised.value)


def test_a_table_path_that_cannot_be_written_is_refused_without_a_retry(stream, glue_context, topic, tmp_path):
    from awsglue import DynamicFrame

    topic.send_numbers([1])
    (tmp_path / "file").touch()
    attempts = []

    def write(frame, batch_id):
        attempts.append(batch_id)
        glue_context.write_dynamic_frame.from_options(
            frame=DynamicFrame.fromDF(frame, glue_context, "frame"),
            connection_type="s3",
            connection_options={"path": str(tmp_path / "file" / "table")},
            format="glueparquet",
        )

    with pytest.raises(ConfigError, match=re.escape(str(tmp_path / "file"))) as raised:
        stream(topic, write)

    assert is_one_sentence(raised.value)
    assert attempts == [0]


def test_the_checkpoint_of_another_stream_is_refused_before_a_batch_runs(stream, kafka, topic):
    other = new_topic_at(kafka)
    topic.send_numbers([1])
    stream(topic, lambda frame, batch_id: frame.count())
    calls = []

    with pytest.raises(CheckpointError) as raised:
        stream(other, lambda frame, batch_id: calls.append(batch_id))

    assert topic.name in str(raised.value)
    assert other.name in str(raised.value)
    assert is_one_sentence(raised.value)
    assert calls == []
