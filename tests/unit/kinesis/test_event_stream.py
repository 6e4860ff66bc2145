"""Messages of an event stream, read by our decoder and by botocore's."""

import io
import random
import struct
import zlib

import pytest
import urllib3
from botocore.eventstream import EventStreamBuffer

from gluepot.connectors.aws.errors import Throttled
from gluepot.connectors.kinesis.client import EventStream
from gluepot.connectors.kinesis.errors import NoSuchStream
from gluepot.connectors.kinesis.events import GarbledMessage, read_message
from gluepot.core.errors import ConfigError, TransientError
from tests.kinesis_fan_out import event_message, exception_message, message

WHOLE = event_message("SubscribeToShardEvent", {"Records": [], "MillisBehindLatest": 0})


def test_messages_are_read_as_botocore_reads_them():
    told = event_message("initial-response", {}) + WHOLE + exception_message("ResourceInUseException", "taken over")
    buffer = EventStreamBuffer()
    buffer.add_data(told)
    theirs = [(dict(one.headers), one.payload) for one in buffer]
    read = io.BytesIO(told).read
    ours = []
    while (found := read_message(read)) is not None:
        ours.append((found.headers, found.payload))

    assert ours == theirs
    assert len(ours) == 3


def test_the_end_between_two_messages_is_the_end():
    assert read_message(io.BytesIO(b"").read) is None


def test_a_message_that_is_cut_off_is_noticed():
    for length in range(1, len(WHOLE)):
        with pytest.raises(GarbledMessage):
            read_message(io.BytesIO(WHOLE[:length]).read)


def test_a_byte_that_changed_is_noticed_wherever_it_is():
    chance = random.Random(1)
    for at in range(len(WHOLE)):
        changed = bytearray(WHOLE)
        changed[at] ^= chance.randrange(1, 256)
        with pytest.raises(GarbledMessage):
            read_message(io.BytesIO(bytes(changed)).read)


def test_what_is_no_event_stream_is_noticed():
    with pytest.raises(GarbledMessage):
        read_message(io.BytesIO(b'{"__type": "something else"}').read)


def test_headers_that_are_no_strings_are_left_out():
    plain = message({"name": "value"}, b"")
    block = b"\x02ok\x00\x02no\x01\x01b\x02\x07\x01s\x03\x00\x07\x01i\x04\x00\x00\x00\x07\x01l\x05" + b"\x00" * 8
    block += b"\x01x\x06\x00\x02ab\x01t\x08" + b"\x00" * 8 + b"\x01u\x09" + b"\x00" * 16 + plain[12:-4]

    assert read_message(io.BytesIO(with_headers(block)).read).headers == {"name": "value"}


@pytest.mark.parametrize("block", [b"\x05na", b"\x01n\x0a", b"\x01n\x07\x00\x09x", b"\x01n\x07\x00\x01\xff", b"\x01n"])
def test_headers_that_make_no_sense_are_noticed(block):
    with pytest.raises(GarbledMessage, match="headers"):
        read_message(io.BytesIO(with_headers(block)).read)


def events_of(body):
    answer = urllib3.HTTPResponse(body=io.BytesIO(body), preload_content=False)
    return EventStream(answer, "Kinesis stream clicks at memory")


def test_events_follow_whatever_the_service_says_first_and_end_with_the_stream():
    events = events_of(event_message("initial-response", {}) + WHOLE)
    assert events.next_event() == {"Records": [], "MillisBehindLatest": 0}
    assert events.next_event() is None
    events.close()


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("ResourceInUseException", TransientError),
        ("InternalFailureException", TransientError),
        ("KMSThrottlingException", Throttled),
        ("ResourceNotFoundException", NoSuchStream),
        ("KMSAccessDeniedException", ConfigError),
    ],
)
def test_an_exception_within_the_stream_is_the_error_that_the_call_would_raise(code, error):
    with pytest.raises(error, match=f"{code}: the reason"):
        events_of(exception_message(code, "the reason")).next_event()


def test_an_error_without_a_body_is_named_by_its_headers():
    told = {":message-type": "error", ":error-code": "InternalError", ":error-message": "the reason"}
    with pytest.raises(TransientError, match="InternalError: the reason"):
        events_of(message(told, b"")).next_event()


@pytest.mark.parametrize("body", [b"{}", WHOLE[:-1], event_message("SubscribeToShardEvent", {})[:-6] + b"123456"])
def test_an_answer_that_is_cut_off_or_something_else_is_tried_again(body):
    with pytest.raises(TransientError, match="subscribes to the shard again"):
        events_of(body).next_event()


def test_an_event_that_is_not_json_is_tried_again():
    about = {":message-type": "event", ":event-type": "SubscribeToShardEvent"}
    with pytest.raises(TransientError, match="not JSON"):
        events_of(message(about, b"<xml/>")).next_event()


def with_headers(block):
    prelude = struct.pack(">II", 16 + len(block), len(block))
    whole = prelude + struct.pack(">I", zlib.crc32(prelude)) + block
    return whole + struct.pack(">I", zlib.crc32(whole))
