import json

import pytest

from gluepot.core.checkpoint import Checkpoint
from gluepot.core.errors import CheckpointError


def write(folder, log, name, *lines):
    (folder / log).mkdir(parents=True, exist_ok=True)
    (folder / log / name).write_text("\n".join(lines))


def test_a_checkpoint_that_is_not_there_has_no_history(tmp_path):
    fresh = Checkpoint(str(tmp_path / "none"))

    assert (fresh.query_id(), fresh.newest_offsets(), fresh.newest_done()) == (None, None, None)


def test_the_newest_entry_is_found_by_number_among_sparks_other_files(tmp_path):
    for name in ("9", "10", ".10.crc", ".11.abc.tmp"):
        write(tmp_path, "offsets", name, "v1", "{}", json.dumps({"at": name}))
    write(tmp_path, "commits", "9", "v1", "{}")

    checkpoint = Checkpoint(str(tmp_path))

    newest = checkpoint.newest_offsets()
    assert (newest.batch_id, newest.sources) == (10, ({"at": "10"},))
    assert checkpoint.newest_done() == 9


@pytest.mark.parametrize(
    ("planned", "committed", "done"),
    [
        ([], [], None),
        ([0], [], None),
        ([0], [0], 0),
        ([32, 33], [32, 33], 33),
        ([32, 33], [32], 32),
        ([32, 33], [24], 32),  # Spark has removed commits/24, and a power cut has brought it back
        ([32, 33], [], 32),
    ],
)
def test_a_batch_is_done_when_the_next_one_is_planned(tmp_path, planned, committed, done):
    for log, numbers in (("offsets", planned), ("commits", committed)):
        for n in numbers:
            write(tmp_path, log, str(n), "v1", "{}")

    assert Checkpoint(str(tmp_path)).newest_done() == done


def test_one_line_per_source_in_their_order(tmp_path):
    write(tmp_path, "offsets", "0", "v1", "{}", '{"s":1}', '{"s":2}')

    assert [s["s"] for s in Checkpoint(str(tmp_path)).offsets(0).sources] == [1, 2]


def test_the_query_id_is_sparks_own(tmp_path):
    (tmp_path / "metadata").write_text('{"id":"abc"}')

    assert Checkpoint(f"file:{tmp_path}").query_id() == "abc"


@pytest.mark.parametrize("text", ["", "v1", 'v1\n{}\n{"torn": '])
def test_a_torn_entry_is_named_with_the_remedy(tmp_path, text):
    write(tmp_path, "offsets", "3", text)

    with pytest.raises(CheckpointError, match=r"offsets/3 is torn.*gluepot checkpoint doctor"):
        Checkpoint(str(tmp_path)).newest_offsets()


def test_a_missing_entry_is_named(tmp_path):
    with pytest.raises(CheckpointError, match="has no offsets/7"):
        Checkpoint(str(tmp_path)).offsets(7)
