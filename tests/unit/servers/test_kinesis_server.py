from __future__ import annotations

from pathlib import Path

from gluepot.servers.kinesis import arn, settings
from gluepot.servers.process import ProcessId
from gluepot.servers.state import ServerState


def test_nothing_is_written_to_disk_or_read_from_it():
    told = settings(20001, 20002, Path("/p/server.json"))
    assert (told["SHOULD_PERSIST_DATA"], told["LOAD_DATA_IF_EXISTS"]) == ("false", "false")
    assert (told["KINESIS_MOCK_PLAIN_PORT"], told["KINESIS_MOCK_TLS_PORT"]) == ("20001", "20002")


def test_a_stream_has_the_arn_of_the_emulators_account():
    assert arn("clicks") == "arn:aws:kinesis:us-east-1:000000000000:stream/clicks"


def test_clients_are_given_a_url():
    assert ServerState("kinesis", ProcessId(7, "22"), 20001, "/log").address == "http://127.0.0.1:20001"
    assert ServerState("kafka", ProcessId(7, "22"), 20001, "/log").address == "127.0.0.1:20001"
