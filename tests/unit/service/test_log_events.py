"""Log files as events."""

import pytest

from gluepot.service import log_events
from gluepot.service.log_events import events_in, matches, read_text, tail_offset


def read_events(path, offset, carried_ms):
    return list(events_in(read_text(path, offset), offset, carried_ms))


def test_lines_have_the_time_that_they_tell_or_that_of_the_line_before(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b'first\n{"ts": "1970-01-01T00:00:09Z", "msg": "x"}\nafter \xff\nnot yet whole')
    found = read_events(path, 0, 5)
    assert [(one.at_ms, one.message) for one in found] == [
        (5, "first"),
        (9000, '{"ts": "1970-01-01T00:00:09Z", "msg": "x"}'),
        (9000, "after \ufffd"),
    ]
    assert [one.message for one in read_events(path, found[1].end, 5)] == ["after \ufffd"]
    assert read_events(path, found[-1].end, 5) == []
    assert read_events(tmp_path / "none", 0, 5) == []


def test_a_large_file_is_read_in_parts_and_lines_stay_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(log_events, "_MOST_BYTES", 25)
    path = tmp_path / "log"
    lines = [f"line {number}" for number in range(20)]
    path.write_text("\n".join(lines) + "\n")
    found, offset = [], 0
    while part := read_events(path, offset, 0):
        found += [one.message for one in part]
        offset = part[-1].end
    assert found == lines
    assert [one.message for one in read_events(path, tail_offset(path, most_bytes=25), 0)] == lines[-3:]
    path.write_text("x" * 60 + "\nend\n")
    whole, offset = "", 0
    while part := read_events(path, offset, 0):
        whole += "".join(one.message for one in part)
        offset = part[-1].end
    assert whole == "x" * 60 + "end"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("", True),
        ("ERROR", True),
        ("error", False),
        ("ERROR disk", True),
        ("ERROR full", False),
        ('"no space"', True),
        ('"space no"', False),
        ("?full ?space", True),
        ("ERROR -disk", False),
        ("-full", True),
    ],
)
def test_terms_of_filter_patterns(pattern, found):
    assert matches(pattern, "ERROR disk has no space") is found
