"""A start that a person chose: kept in the checkpoint, honoured by a query without history."""

import pytest

from gluepot.connectors.kafka.planner import KafkaPlanner
from gluepot.connectors.kafka.positions import Positions, Span
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.streams.start import START_FILE, of_stream, parse_start, read_start, write_start
from gluepot.core.clock import FakeClock
from gluepot.core.errors import CheckpointError, DataLoss
from tests.unit.commit.worlds import MemoryStorage
from tests.unit.kafka.test_planner import Shelf, entry, span

CHOSEN = Positions.at({"clicks": "id", "orders": "id-2"}, {("clicks", 0): 4, ("orders", 0): 9})


def settings(**options):
    return KafkaReadSettings.from_options({"bootstrap.servers": "h:1", "topicName": "clicks"} | options)


def planner(shelf, start=CHOSEN, newest=None, **options):
    return KafkaPlanner(settings(**options), FakeClock(), newest, "/ck", shelf, start)


@pytest.mark.parametrize("text", ["{}", '{"source": 7}', '{"source": "KAFKA"}', '{"source": "pulsar"}'])
def test_a_start_of_no_source_that_is_known_is_refused(text):
    with pytest.raises(CheckpointError, match="is not of a source that this Gluepot knows"):
        parse_start(text.encode())


def test_a_start_survives_the_file_and_begins_at_the_ends():
    storage = MemoryStorage({})
    assert read_start(storage) is None
    write_start(storage, Positions({"clicks": "id"}, {("clicks", 0): Span(1, 4)}, "beef"))
    assert read_start(storage) == Positions.at({"clicks": "id"}, {("clicks", 0): 4})


@pytest.mark.parametrize("text", [b"", b"{", b"{}", b"[]", b'{"source": "kafka", "version": 2}'])
def test_a_start_file_that_was_changed_is_named_with_the_remedy(text):
    with pytest.raises(CheckpointError, match=f"{START_FILE}.*gluepot checkpoint rewind"):
        read_start(MemoryStorage({START_FILE: text}))


def test_a_query_without_history_begins_where_it_was_told_whatever_the_options_say():
    chosen = planner(Shelf(9), startingOffsets="latest")
    assert span(chosen.latest()) == Span(4, 9)
    assert span(chosen.initial()) == Span(4, 4)
    assert chosen.latest().after != ""


def test_history_counts_more_than_a_start_file():
    assert span(planner(Shelf(9), newest=entry(2, 5)).latest()) == Span(5, 9)


def test_a_partition_that_was_left_out_begins_at_its_first_record():
    elsewhere = Positions.at({"clicks": "id"}, {("clicks", 7): 0})
    assert span(planner(Shelf(9, earliest=3), elsewhere, failOnDataLoss="false").latest()) == Span(3, 9)


def test_records_that_expired_before_the_chosen_start_was_reached_are_a_loss():
    with pytest.raises(DataLoss, match="wanted offset 4, the broker starts at 6"):
        planner(Shelf(9, earliest=6)).latest()


def test_each_stream_takes_its_own_topics_and_partitions():
    def own(**options):
        read = settings(**options)
        return of_stream(CHOSEN, read.covers, read.topics(), "/ck")

    assert own().stream_ids == {"clicks": "id"}
    assert own(topicName="", subscribePattern=".*").spans == CHOSEN.spans
    with pytest.raises(CheckpointError, match=r"/ck/gluepot/start\.json does not say where to start in payments"):
        own(topicName="payments")
