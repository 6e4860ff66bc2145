"""What is compared of each odd shape is in its records, and each shape is as odd as it says."""

from __future__ import annotations

from itertools import islice

import orjson
import pytest

from benchmarks.drain.odd_shapes import ODD_SHAPES
from benchmarks.trial import sums


@pytest.mark.parametrize("name", ODD_SHAPES)
def test_each_expression_finds_its_field(name, tmp_path):
    shape = ODD_SHAPES[name]
    records = 300 + shape.broken_every
    file = tmp_path / "records.json"
    file.write_bytes(b"\n".join(shape.payloads(records)))

    options = f"format = 'newline_delimited', maximum_depth = 20, ignore_errors = {shape.broken_every > 0}"
    found = sums(f"read_json('{file}', {options}) WHERE event_id IS NOT NULL", shape.checked)

    assert found[0] == shape.whole(records)
    assert len(set(found[1:])) > 1


def test_shapes_are_odd():
    events = {name: list(islice(shape.events(), 50)) for name, shape in ODD_SHAPES.items()}

    assert {type(event["duration_ms"]) for event in events["changing"]} == {int, str}
    assert len({tuple(sorted(event)) for event in events["optional"]}) > 40
    assert len({tuple(event) for event in events["shuffled"]}) == 50
    assert min(len(event) for event in events["wide"]) > 300
    assert min(len(orjson.dumps(event)) for event in events["long"]) > 8_000
