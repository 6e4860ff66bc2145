from __future__ import annotations

import struct

import pytest

from gluepot.ops.jvm import JavaHeap, java_heap, long_counters

COUNTERS = {
    "sun.os.hrt.frequency": 1_000,
    "sun.gc.collector.0.time": 1_500,
    "sun.gc.collector.1.time": 500,
    "sun.gc.generation.0.space.0.used": 10,
    "sun.gc.generation.0.space.0.capacity": 100,
    "sun.gc.generation.1.space.0.used": 30,
    "sun.gc.generation.1.space.0.capacity": 300,
    "sun.gc.generation.1.capacity": 999,
}


def counters_file(counters: dict[str, int], order: str = "<") -> bytes:
    entries = b""
    for name, value in counters.items():
        text = name.encode() + b"\0"
        text += b"\0" * (-len(text) % 8 + 4)
        length = 20 + len(text) + 8
        entries += struct.pack(f"{order}iiibbbbi", length, 20, 0, ord("J"), 0, 0, 0, 20 + len(text))
        entries += text + struct.pack(f"{order}q", value)
    head = b"\xca\xfe\xc0\xc0" + bytes([order == "<", 2, 0, 1])
    return head + struct.pack(f"{order}iiqii", 0, 0, 0, 32, len(counters)) + entries


@pytest.mark.parametrize("order", ["<", ">"])
def test_counters_are_read_in_either_byte_order(order):
    assert long_counters(counters_file(COUNTERS, order)) == COUNTERS


def test_heap_is_the_sum_of_its_spaces_and_time_that_of_all_collectors(tmp_path):
    (tmp_path / "hsperfdata_glue").mkdir()
    (tmp_path / "hsperfdata_glue/7").write_bytes(counters_file(COUNTERS))
    assert java_heap([6, 7], tmp_path) == JavaHeap(40, 400, 2.0)


@pytest.mark.parametrize("data", [b"", b"no counters at all", counters_file(COUNTERS)[:60]])
def test_a_file_that_is_not_ready_says_nothing(tmp_path, data):
    (tmp_path / "hsperfdata_glue").mkdir()
    (tmp_path / "hsperfdata_glue/7").write_bytes(data)
    assert java_heap([7], tmp_path) is None


def test_a_process_without_counters_says_nothing(tmp_path):
    assert java_heap([7], tmp_path) is None
