import json
from dataclasses import dataclass, field
from dataclasses import replace as with_values
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.kafka.sender import Sent
from gluepot.core.errors import CheckpointError, ConfigError, TransientError
from gluepot.core.storage import open_storage
from gluepot.dead_letters.folder import open_folder
from gluepot.dead_letters.ledger import Ledger, spans
from gluepot.dead_letters.letters import EVERY_LETTER, Wanted, read_letters
from gluepot.dead_letters.replay import CHUNK, HEADER, Replayed, replay, topics_of
from tests.unit.dead_letters.world import publish


class Killed(BaseException):
    """The process dies here."""


@dataclass
class Broker:
    """Takes records until it dies: the first `lives` of them are acknowledged."""

    lives: int = 10**9
    arrived: list[bytes] = field(default_factory=list)
    headers: list = field(default_factory=list)
    kills: bool = False

    def send(self, topic, records):
        sent = Sent()
        for index, record in enumerate(records):
            if self.lives == 0:
                if self.kills:
                    raise Killed
                sent.error = TransientError("away")
                return sent
            self.lives -= 1
            self.arrived.append(record.value)
            self.headers.append(dict(record.headers))
            sent.acknowledged.append(index)
        return sent


@pytest.fixture
def table(tmp_path):
    folder = str(tmp_path / "table")
    publish(folder, 0, *(b"a%d" % n for n in range(3 * CHUNK)))
    publish(folder, 1, b"b0", None)
    return folder


@pytest.fixture
def send(table):
    """Replay the table once."""

    def once(broker, wanted=EVERY_LETTER, cluster="cluster-1", topic="again"):
        folder = open_folder(table)
        return replay(read_letters(folder, wanted), Ledger(folder.home, cluster, topic), broker, topic)

    return once


def test_every_letter_is_sent_as_it_came_in_order_and_says_where_from(send):
    broker = Broker()
    assert send(broker) == Replayed(sent=3 * CHUNK + 2, skipped=0)
    assert broker.arrived == [*(b"a%d" % n for n in range(3 * CHUNK)), b"b0", None]
    assert broker.headers[0] == {HEADER: b"clicks-0 at 1"}


def test_a_second_replay_sends_nothing(send):
    send(Broker())
    broker = Broker()
    assert send(broker) == Replayed(sent=0, skipped=3 * CHUNK + 2)
    assert broker.arrived == []


def test_what_came_since_the_last_replay_is_sent(send, table):
    send(Broker())
    publish(table, 2, b"c0")
    broker = Broker()
    send(broker)
    assert broker.arrived == [b"c0"]


def test_another_topic_or_another_cluster_gets_them_all(send):
    send(Broker())
    for elsewhere in ({"topic": "other"}, {"cluster": "cluster-2"}):
        assert send(Broker(), **elsewhere).sent == 3 * CHUNK + 2


def test_a_replay_of_one_batch_leaves_the_others_for_later(send):
    send(Broker(), Wanted(batch_id=1))
    broker = Broker()
    assert send(broker) == Replayed(sent=3 * CHUNK, skipped=2)


@pytest.mark.parametrize("acknowledged", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 1])
def test_after_a_broker_that_went_away_exactly_the_others_are_sent(send, acknowledged):
    first, second = Broker(lives=acknowledged), Broker()
    with pytest.raises(TransientError, match="away"):
        send(first)
    send(second)
    assert sorted([*first.arrived, *second.arrived], key=repr) == sorted(
        [*(b"a%d" % n for n in range(3 * CHUNK)), b"b0", None], key=repr
    )


@pytest.mark.parametrize("arrived", [0, 1, CHUNK - 1, CHUNK, 2 * CHUNK + 7])
def test_a_replay_that_was_killed_repeats_no_more_than_its_last_chunk(send, arrived):
    first, second = Broker(lives=arrived, kills=True), Broker()
    with pytest.raises(Killed):
        send(first)
    send(second)
    assert set(first.arrived) | set(second.arrived) == {*(b"a%d" % n for n in range(3 * CHUNK)), b"b0", None}
    assert set(first.arrived) & set(second.arrived) == set(first.arrived[arrived // CHUNK * CHUNK :])


def test_a_ledger_that_cannot_be_read_is_named_with_the_way_out(send, table):
    send(Broker())
    storage = open_storage(table)
    for key in storage.list("_gluepot/replays"):
        storage.put(key, b'{"version":')
    with pytest.raises(CheckpointError, match=r"ledger .*_gluepot/replays/.* cannot be read; remove it"):
        send(Broker())


def test_a_ledger_says_in_words_what_it_is_about(send, table):
    send(Broker(), Wanted(batch_id=1))
    storage = open_storage(table)
    (plain,) = (json.loads(storage.get(key)) for key in storage.list("_gluepot/replays"))
    assert (plain["cluster"], plain["topic"], plain["sent"]) == ("cluster-1", "again", [[0, 2]])


@given(st.sets(st.integers(0, 50)))
def test_spans_hold_the_numbers_and_no_two_of_them_touch(numbers):
    found = spans(numbers)
    assert {n for first, end in found for n in range(first, end)} == numbers
    assert all(end < first for (_, end), (first, _) in pairwise(found))


def test_a_record_of_a_file_needs_a_topic(table):
    letter = next(read_letters(open_folder(table), EVERY_LETTER))
    of_file = with_values(letter, stream="/in/a.json", shard="", position="27")

    assert topics_of([letter]) == ["clicks"]
    with pytest.raises(ConfigError, match=r"^The dead letter from /in/a.json at 27 was in a file, .* give --topic"):
        topics_of([letter, of_file])
