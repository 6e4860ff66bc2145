from __future__ import annotations

import pytest

from gluepot.testing.streams import write_batches


def test_batches_become_files_whose_times_are_in_order(tmp_path):
    recorded = tmp_path / "recorded.jsonl"
    recorded.write_text('{"n": 3}\n{"n": 4}\n')

    write_batches([[{"n": 1}, '{"n": 2}', b"raw"], recorded], tmp_path / "stream")

    files = sorted((tmp_path / "stream").iterdir())
    assert [one.read_text() for one in files] == ['{"n":1}\n{"n": 2}\nraw\n', '{"n": 3}\n{"n": 4}\n']
    assert files[0].stat().st_mtime < files[1].stat().st_mtime


@pytest.mark.parametrize(("batches", "said"), [([[]], "batch 0 is empty"), ([["a\nb"]], "has a line break")])
def test_what_no_stream_could_give_is_refused(tmp_path, batches, said):
    with pytest.raises(ValueError, match=said):
        write_batches(batches, tmp_path / "stream")
