"""Messages of an event stream, read by our decoder and by botocore's."""

import io
import random

import pytest
from botocore.eventstream import EventStreamBuffer

from gluepot.connectors.kinesis.events import GarbledMessage, read_message
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


def with_headers(block):
    import struct
    import zlib

    prelude = struct.pack(">II", 16 + len(block), len(block))
    whole = prelude + struct.pack(">I", zlib.crc32(prelude)) + block
    return whole + struct.pack(">I", zlib.crc32(whole))
