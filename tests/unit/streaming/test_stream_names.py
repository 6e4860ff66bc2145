from gluepot.connectors.kafka.positions import Positions
from gluepot.streaming.micro_batch.inputs import MOST_NAMED, named


def held(*topics: str) -> Positions:
    return Positions.at({}, {(topic, 0): 5 for topic in topics})


def test_lines_of_a_batch_name_its_streams_once_each():
    assert named([held("orders", "clicks"), held("clicks")]) == {"stream": "clicks, orders"}


def test_lines_of_a_pattern_of_many_streams_stay_short():
    topics = [f"t{n}" for n in range(MOST_NAMED + 3)]
    assert named([held(*topics)]) == {"stream": "t0, t1, t2, t3, t4, and 3 more"}


def test_a_foreign_source_has_no_name():
    assert named([]) == {}
