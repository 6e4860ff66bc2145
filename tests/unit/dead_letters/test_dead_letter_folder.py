import json
from pathlib import Path

import pytest

from gluepot.cli.dlq import list_, show
from gluepot.connectors.streams.dead_letters import DeadLetter
from gluepot.connectors.values import OriginalRecord, SourceRange
from gluepot.core.errors import CheckpointError, ConfigError
from gluepot.dead_letters.folder import open_folder
from gluepot.dead_letters.letters import Wanted, read_letters
from gluepot.dead_letters.show import MOST_CHARS, Count, counts, letter_json, printable
from gluepot.streaming.quarantine.dead_letters import DeadLetters
from tests.unit.dead_letters.world import publish, raws

RANGE = SourceRange("kafka", "clicks", "id-1", "0", 4, 5)


@pytest.fixture
def table(tmp_path):
    folder = str(tmp_path / "table")
    publish(folder, 0, b"{a", b"{b")
    publish(folder, 1)
    publish(folder, 2, b"\xff", reason="invalid_utf8")
    return folder


def test_dead_letters_of_a_table_are_read_with_bytes_and_place(table):
    letters = list(read_letters(open_folder(table)))
    assert [(one.raw, one.reason, one.origin, one.file.batch_id) for one in letters] == [
        (b"{a", "malformed_json", "clicks-0 at 1", 0),
        (b"{b", "malformed_json", "clicks-0 at 2", 0),
        (b"\xff", "invalid_utf8", "clicks-0 at 1", 2),
    ]


def test_letters_are_chosen_by_reason_and_batch(table):
    folder = open_folder(table)
    assert raws(read_letters(folder, Wanted(reason="invalid_utf8"))) == [b"\xff"]
    assert raws(read_letters(folder, Wanted(batch_id=0))) == [b"{a", b"{b"]
    assert raws(read_letters(folder, Wanted("invalid_utf8", 0))) == []


def test_a_file_that_no_manifest_names_does_not_count(table):
    named, *_ = Path(table, "_rejects").iterdir()
    named.with_name("run-left-over.rejects").write_bytes(named.read_bytes())
    assert len(list(read_letters(open_folder(table)))) == 3


def test_a_file_that_is_gone_is_said(table):
    for file in Path(table, "_rejects").iterdir():
        file.unlink()
    with pytest.raises(CheckpointError, match="is gone although a manifest names it"):
        list(read_letters(open_folder(table)))


def test_dead_letters_of_a_checkpoint_are_found_from_the_checkpoint_itself(tmp_path):
    letter = DeadLetter(OriginalRecord(b"x", "clicks", "0", 4, 1, b"k", [("h", b"v")]), "batch_function", "no")
    DeadLetters(str(tmp_path), None, "query-1", 5).publish(3, 1, [letter], [RANGE])
    for place in (tmp_path, tmp_path / "gluepot" / "dead_letters"):
        (found,) = read_letters(open_folder(str(place)))
        assert (found.raw, found.key, found.headers, found.file.batch_id) == (b"x", b"k", [("h", b"v")], 3)


def test_rejected_records_that_lie_elsewhere_have_to_be_named(tmp_path):
    table, aside = str(tmp_path / "table"), str(tmp_path / "aside")
    publish(table, 0, b"{a", rejects=aside)
    with pytest.raises(ConfigError, match="pass that folder with --rejects"):
        open_folder(table)
    assert raws(read_letters(open_folder(table, aside))) == [b"{a"]


def test_a_folder_of_rejected_records_can_be_read_by_itself(tmp_path):
    publish(str(tmp_path / "table"), 0, b"{a", rejects=str(tmp_path / "aside"))
    folder = open_folder(str(tmp_path / "aside"))
    assert raws(read_letters(folder)) == [b"{a"]
    assert counts(folder) == [Count("malformed_json", "", None, 1)]


def test_they_are_counted_by_reason_and_batch(table):
    assert counts(open_folder(table)) == [
        Count("malformed_json", "query-1", 0, 2),
        Count("invalid_utf8", "query-1", 2, 1),
    ]


def test_the_list_ends_with_the_sum(table, capsys):
    list_(str(table))
    assert capsys.readouterr().out.splitlines()[-1] == "3 in all"


def test_a_checkpoint_without_rejected_records_has_no_dead_letters(tmp_path, capsys):
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").touch()
    list_(str(tmp_path))
    assert capsys.readouterr().out == "No dead letters.\n"


def test_a_place_that_is_neither_a_table_nor_a_checkpoint_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="is neither a table nor a checkpoint, and has no rejected records"):
        list_(str(tmp_path))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b'{"a": "\xc3\xbc"}', '{"a": "ü"}'),
        (b"\x1b[2Jgone", r"\x1b[2Jgone"),
        (b"two\r\nlines\x00", r"two\r\nlines\x00"),
        (b"\xff\xfe", r"\xff\xfe"),
        ("left\u202egnirts".encode(), r"left\u202egnirts"),
        (None, "(no value)"),
    ],
)
def test_nothing_of_a_record_acts_on_the_terminal(raw, shown):
    assert printable(raw) == shown


def test_a_long_record_is_cut_and_its_length_said():
    assert printable("ü".encode() * 10_000) == "ü" * MOST_CHARS + " ... (20,000 bytes)"


def test_a_letter_as_json_keeps_every_byte(table):
    *_, last = read_letters(open_folder(table))
    plain = json.loads(json.dumps(letter_json(last)))
    assert (plain["raw"], plain["text"], plain["batch_id"]) == ("/w==", None, 2)


def test_as_many_are_shown_as_asked_for(table, capsys):
    show(table, count=2, output="json")
    assert [one["text"] for one in json.loads(capsys.readouterr().out)] == ["{a", "{b"]
