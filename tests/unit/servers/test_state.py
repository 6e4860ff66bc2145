from __future__ import annotations

import pytest

from gluepot.servers.process import ProcessId
from gluepot.servers.state import (
    ServerState,
    dump_state,
    forget_state,
    parse_state,
    read_state,
    server_folder,
    write_state,
)

STATE = ServerState("kafka", ProcessId(7, "22"), 20001, "/log")


def test_state_is_read_as_it_was_written(tmp_path):
    write_state(tmp_path, STATE)
    assert read_state(tmp_path) == STATE


@pytest.mark.parametrize("text", ["", "{", "[]", '{"server": "kafka"}', dump_state(STATE)[:-5]])
def test_half_written_state_is_no_state(text):
    assert parse_state(text) is None


def test_forgotten_state_is_gone_and_can_be_forgotten_again(tmp_path):
    write_state(tmp_path, STATE)
    forget_state(tmp_path)
    forget_state(tmp_path)
    assert read_state(tmp_path) is None


def test_servers_live_in_the_cache():
    assert str(server_folder({"GLUEPOT_HOME": "/cache"}, "kafka")) == "/cache/servers/kafka"
