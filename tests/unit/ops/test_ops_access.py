from __future__ import annotations

import pytest

from gluepot.core.errors import ConfigError
from gluepot.core.sockets import is_loopback
from gluepot.ops.access import checked_token

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("metrics.example", False),
    ],
)
def test_loopback_is_what_other_machines_cannot_reach(host, expected):
    assert is_loopback(host) is expected


def test_loopback_needs_no_token_and_keeps_one_that_is_given():
    assert checked_token("127.0.0.1", None, {}) is None
    assert checked_token("127.0.0.1", TOKEN, {}) == TOKEN


@pytest.mark.parametrize("given", [None, ""])
def test_another_address_without_a_token_is_refused_with_the_remedy(given):
    with pytest.raises(ConfigError, match=r"0\.0\.0\.0 can be reached.*GLUEPOT_METRICS_TOKEN"):
        checked_token("0.0.0.0", given, {})


def test_token_may_be_a_reference(tmp_path):
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    assert checked_token("0.0.0.0", f"file:{tmp_path}/token", {}) == TOKEN
    assert checked_token("0.0.0.0", "env:OPS", {"OPS": TOKEN}) == TOKEN


@pytest.mark.parametrize("weak", ["short", "\u00e4" * 20])
def test_a_token_that_is_no_token_is_refused_without_being_shown(weak):
    with pytest.raises(ConfigError) as refused:
        checked_token("0.0.0.0", weak, {})
    assert weak not in str(refused.value)
