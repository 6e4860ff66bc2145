"""What a query asks its checkpoint about its streams."""

from __future__ import annotations

import json
from types import SimpleNamespace

from gluepot.core.checkpoint import Checkpoint
from gluepot.streaming.micro_batch.frames import StreamFrame
from gluepot.streaming.micro_batch.inputs import Inputs


class NumberedStream(StreamFrame):
    """A stream whose position is the number of the batch."""

    def __init__(self):
        self.source = SimpleNamespace(codec=SimpleNamespace(find=lambda entry, location: entry.batch_id))


def test_what_is_done_is_told_although_a_power_cut_has_left_only_an_old_commit(tmp_path):
    for log, n in (("offsets", 31), ("offsets", 32), ("offsets", 33), ("commits", 24)):
        (tmp_path / log).mkdir(exist_ok=True)
        (tmp_path / log / str(n)).write_text("\n".join(["v1", "{}", json.dumps({})]))

    assert Inputs(NumberedStream(), Checkpoint(str(tmp_path))).committed() == [32]
