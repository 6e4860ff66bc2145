"""Lines of a log whose balances do not hold, each of which has to be noticed."""

from __future__ import annotations

import json

import pytest

from tests.balances import unbalanced

BATCH = {"msg": "batch_done", "rows": 10, "delivered": 8, "rejected": 2, "arrived": 8, "rows_out": 7, "refused": 1}


def is_noticed(tmp_path, line: str) -> bool:
    log = tmp_path / "log"
    log.write_text(f'{json.dumps(BATCH)}\n{line}\n{{"msg": "batch_done", "rows": 1')
    return bool(unbalanced(log))


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": 11},
        {"rejected": 1},
        {"delivered": 11},
        {"rows_out": 6},
        {"refused": 0},
        {"arrived": 9},
        {"left_out": 3},
        {"unseen": 1},
    ],
)
def test_a_batch_with_a_record_too_few_or_too_many_is_noticed(tmp_path, changes):
    assert is_noticed(tmp_path, json.dumps({**BATCH, **changes}))


def test_what_the_product_says_of_itself_is_noticed(tmp_path):
    assert is_noticed(tmp_path, '{"msg": "records_unaccounted"}')


@pytest.mark.parametrize("changes", [{}, {"rows": 12, "left_out": 2}, {"rejected": 3}])
def test_whole_batches_and_lines_cut_short_by_a_kill_are_right(tmp_path, changes):
    assert not is_noticed(tmp_path, json.dumps({**BATCH, **changes}))
