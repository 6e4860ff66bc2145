"""What was never read and is gone: refused by default, with topic, partition, offsets and the way to accept it."""

import time

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from gluepot.core.errors import CheckpointError, ConfigError, DataLoss
from gluepot.servers.topics import create_topic


@pytest.fixture
def admin(kafka):
    return AdminClient({"bootstrap.servers": kafka, "log_level": 0})


def finish(futures):
    for future in futures.values():
        future.result()


def test_expired_records_fail_and_can_be_accepted(new_topic, job, admin):
    topic = new_topic(partitions=1)
    topic.send_json({"id": 0})
    job.drain(topic.options())
    topic.send_json({"id": 1}, {"id": 2}, {"id": 3})
    finish(admin.delete_records([TopicPartition(topic.name, 0, 3)]))

    with pytest.raises(
        DataLoss, match=rf"{topic.name} partition 0.*wanted offset 1, the broker starts at 3.*failOnDataLoss"
    ):
        job.drain(topic.options())
    job.drain(topic.options(failOnDataLoss="false"))

    assert job.rows("id") == [(0,), (3,)]


@pytest.mark.parametrize("sent_after", [1, 5])
def test_a_recreated_topic_fails_even_if_it_holds_more_than_before(new_topic, job, admin, kafka, sent_after):
    topic = new_topic(partitions=1)
    topic.send_json({"id": 0}, {"id": 1})
    job.drain(topic.options())
    finish(admin.delete_topics([topic.name]))
    time.sleep(0.5)  # the broker removes a topic in the background
    create_topic(kafka, topic.name, 1)
    topic.send_json(*({"id": 10 + i} for i in range(sent_after)))

    with pytest.raises(DataLoss, match="deleted and created again"):
        job.drain(topic.options())
    job.drain(topic.options(failOnDataLoss="false"))

    assert job.rows("id") == [(0,), (1,), *[(10 + i,) for i in range(sent_after)]]


@pytest.fixture
def recreate(admin, kafka):
    """Delete a topic of one partition, create it again, and send records with ids from 100 on."""

    def recreated(topic):
        finish(admin.delete_topics([topic.name]))
        time.sleep(0.5)  # the broker removes a topic in the background
        create_topic(kafka, topic.name, 1)
        topic.send_json(*({"id": 100 + i} for i in range(5)))

    return recreated


@pytest.mark.parametrize("small_batch_records", [0, 1000])
def test_a_topic_recreated_after_its_batch_was_planned_gives_no_records_of_the_new_one(
    new_topic, job, recreate, small_batch_records
):
    topic = new_topic(partitions=1)
    topic.send_json({"id": 0})
    job.drain(topic.options())
    topic.send_json({"id": 1})

    def late(data_frame, batch_id):
        recreate(topic)
        job.copy(data_frame, batch_id)

    told = {"smallBatchRecords": small_batch_records, "batchMaxRetries": 0}
    # From a worker the error arrives as Spark's.
    with pytest.raises(
        Exception, match=f"Topic {topic.name} was deleted.*offset 1 to 2 of partition 0.*failOnDataLoss"
    ):
        job.drain(topic.options(), late, **told)
    assert job.rows("id") == [(0,)]
    job.drain(topic.options(failOnDataLoss="false"), **told)

    assert job.rows("id") == [(0,), *[(100 + i,) for i in range(5)]]


def test_a_data_frame_of_a_recreated_topic_gives_no_records_of_the_new_one(new_topic, job, recreate):
    topic = new_topic(partitions=1)
    topic.send_json({"id": 0}, {"id": 1})
    seen = []

    def late(data_frame, batch_id):
        recreate(topic)
        seen.extend(data_frame.select("*").collect())

    with pytest.raises(Exception, match=f"Topic {topic.name} was deleted"):
        job.drain(topic.options(), late, smallBatchRecords=0, batchMaxRetries=0)

    assert seen == []


def test_a_missing_topic_is_named_with_those_that_exist(topic, job):
    with pytest.raises(ConfigError, match=r"no topic nowhere; its topics are: \w.*\. Create the topic"):
        job.drain(topic.options(topicName="nowhere"))


def test_a_mistyped_topic_is_answered_with_the_one_that_was_meant(topic, job):
    mistyped = f"{topic.name}-"
    with pytest.raises(ConfigError, match=rf"no topic {mistyped}; .*Did you mean '{topic.name}'\?"):
        job.drain(topic.options(topicName=mistyped))


def test_a_checkpoint_of_another_stream_is_refused(new_topic, job):
    first, second = new_topic(), new_topic()
    first.send_json({"id": 1})
    job.drain(first.options())

    with pytest.raises(CheckpointError, match=rf"another stream \({first.name}\), this one reads {second.name}"):
        job.drain(second.options())


def test_a_starting_offset_outside_the_log_is_refused(topic, job):
    topic.send_json({"id": 1}, partition=0)

    with pytest.raises(ConfigError, match="partition 0 at 99, the broker holds 0 to 1"):
        job.drain(topic.options(startingOffsets=f'{{"{topic.name}":{{"0":99,"1":-2}}}}'))
