"""Putting records: the limits of a call, order within a key, failures record by record."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.aws.errors import Throttled
from gluepot.connectors.kinesis.put import MAX_CALL_BYTES, MAX_RECORDS, Put, Refusal, calls, left_over
from gluepot.connectors.kinesis.sink import DEADLINE_SECS, kinesis_sink, put_all
from gluepot.core.clock import FakeClock
from gluepot.core.errors import PermanentError, TransientError

PUTS = st.lists(st.builds(Put, st.sampled_from("abcdefgh"), st.binary(max_size=20)), max_size=60)


@given(PUTS)
def test_calls_hold_every_record_once_in_order_and_a_key_once(puts):
    made = list(calls(puts))

    assert [put for call in made for put in call] == puts
    assert all(len({put.key for put in call}) == len(call) for call in made)


def test_a_call_stays_within_the_limits_of_the_service():
    many = [Put(str(n), b"") for n in range(MAX_RECORDS + 1)]
    large = [Put(str(n), bytes(MAX_CALL_BYTES // 3)) for n in range(4)]

    assert [len(call) for call in calls(many)] == [MAX_RECORDS, 1]
    assert [len(call) for call in calls(large)] == [2, 2]


def test_a_refusal_that_will_not_pass_is_told_from_throttling():
    puts = [Put("a", b"1"), Put("b", b"2")]
    throttled = {"ErrorCode": "ProvisionedThroughputExceededException"}

    assert left_over(puts, [{"SequenceNumber": "1"}, throttled]) == [puts[1]]
    assert left_over(puts, [throttled, {"ErrorCode": "KMSDisabledException"}]) == Refusal(
        puts[1], "KMSDisabledException", ""
    )


class Stream:
    """Takes each record with its turn in `fates`: None to take it, a code to fail it."""

    where = "Kinesis stream s"

    def __init__(self, fates, away=0):
        self.fates = iter(fates)
        self.away = away
        self.taken = defaultdict(list)

    def on_stream(self, operation, Records):
        if self.away:
            self.away -= 1
            raise Throttled("throttled")
        results = []
        for record in Records:
            code = next(self.fates, None)
            if code is None:
                self.taken[record["PartitionKey"]].append(record["Data"])
            results.append({"ErrorCode": code} if code else {"SequenceNumber": "1"})
        return {"Records": results}


@given(
    PUTS, st.lists(st.sampled_from([None, "ProvisionedThroughputExceededException", "InternalFailure"]), max_size=99)
)
def test_every_record_is_taken_once_and_in_the_order_of_its_key(puts, fates):
    from base64 import b64encode

    stream, clock = Stream(fates, away=1), FakeClock()
    for call in calls(puts):
        put_all(stream, call, clock, lambda: 0.5)

    wanted = defaultdict(list)
    for put in puts:
        wanted[put.key].append(b64encode(put.data).decode())
    assert stream.taken == wanted


def test_a_stream_that_takes_nothing_is_said_after_the_deadline():
    clock = FakeClock()
    with pytest.raises(TransientError):
        put_all(Stream([], away=10_000), [Put("a", b"")], clock, lambda: 1.0)

    assert clock.now >= DEADLINE_SECS


def test_a_record_that_is_refused_fails_at_once():
    with pytest.raises(PermanentError, match="KMSDisabledException"):
        put_all(Stream(["KMSDisabledException"]), [Put("a", b"")], FakeClock(), lambda: 1.0)


def test_the_partition_key_is_a_column_and_the_producer_librarys_options_are_known(caplog):
    sink = kinesis_sink({"streamName": "s", "partitionKey": "user", "kinesis.executor.recordMaxBufferedTime": "1000"})

    assert (sink.address.name, sink.shape.key_column) == ("s", "user")
    assert "option_ignored" not in caplog.text
