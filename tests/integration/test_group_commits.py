"""Consumer groups see a job: after the publish of a batch, never before, and at no risk to it."""

from __future__ import annotations

from uuid import uuid4

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient

from tests.e2e.jobs import wait_until


@pytest.fixture
def group():
    return f"g-{uuid4().hex[:8]}"


def committed(bootstrap, group):
    client = AdminClient({"bootstrap.servers": bootstrap})  # its answers come for as long as it is held
    answer = client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
    return {one.partition: one.offset for one in answer[group].result().topic_partitions}


def test_a_group_stands_where_the_table_does_and_never_before_the_publish(job, topic, group):
    topic.send_json({"n": 1}, {"n": 2}, partition=0)
    topic.send_json({"n": 3}, partition=1)
    before_publish = []

    def look_and_copy(frame, batch_id):
        job.copy(frame, batch_id)
        before_publish.append(committed(topic.bootstrap, group))

    options = topic.options(**{"kafka.group.id": group, "commitGroupOffsets": "true"})
    job.drain(options, look_and_copy)
    assert before_publish == [{}]
    assert committed(topic.bootstrap, group) == {0: 2, 1: 1}
    assert len(job.rows()) == 3


def test_a_group_that_is_named_is_left_alone_unless_the_script_asks(job, topic, group):
    topic.send_json({"n": 1})
    job.drain(topic.options(**{"kafka.group.id": group}))
    assert committed(topic.bootstrap, group) == {}


def test_a_group_with_members_of_its_own_is_a_warning_and_the_batch_is_published(job, topic, group, capsys):
    topic.send_json({"n": 1})
    member = Consumer({"bootstrap.servers": topic.bootstrap, "group.id": group, "enable.auto.commit": False})
    member.subscribe([topic.name])
    try:
        wait_until(lambda: member.poll(0.1) is None and member.assignment(), "a member of the group")
        job.drain(topic.options(**{"kafka.group.id": group, "commitGroupOffsets": "true"}))
    finally:
        member.close()
    assert len(job.rows()) == 1
    assert "group_commit_failed" in capsys.readouterr().err
