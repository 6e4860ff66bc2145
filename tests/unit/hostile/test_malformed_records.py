"""Every record ends in the table or among the rejects, once, and what is rejected keeps its bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from gluepot.commit import open_target, publish
from gluepot.connectors.files.formats.parquet.sink import glueparquet_sink
from gluepot.connectors.values import CommitKey, Manifest
from gluepot.frames.json_decoder import JsonDecoder
from tests.duck import duck
from tests.unit.hostile.records import fuzzed, hand_made

SEED = 20261121


def write(table: Path, records: Sequence[bytes | None], chunk_records: int, batch_records: int) -> None:
    """Take records the way of a stream: micro-batch by micro-batch decoded in chunks, written, published."""
    for batch_id, first in enumerate(range(0, len(records), batch_records)):
        decoder = JsonDecoder()
        end = min(first + batch_records, len(records))
        starts = range(first, end, chunk_records)
        spans = [(start, min(start + chunk_records, end)) for start in starts]
        key = CommitKey("query", batch_id, "sink")
        sink = glueparquet_sink(str(table), key, {}, ctx="", rejects_path=None, partition_keys=())
        chunks = (decoder.decode(records[start:stop], range(start, stop), "t", "0") for start, stop in spans)
        part = replace(sink.write(chunks, 0, "1/a"), rows_in=end - first)
        publish(open_target(sink), Manifest(key, [part], token=1))


def counted(table: Path) -> int:
    (rows,) = duck().execute(f"SELECT count(*) FROM read_parquet('{table}/*.parquet', union_by_name=true)").fetchall()
    return int(rows[0])


def rejects(table: Path) -> dict[int, bytes | None]:
    found = duck().execute(f"SELECT position, raw FROM read_parquet('{table}/_rejects/*.rejects')").fetchall()
    assert max(Counter(position for position, _ in found).values()) == 1
    return {int(position): raw for position, raw in found}


def each_is_there_once(table: Path, records: Sequence[bytes | None]) -> set[int]:
    rejected = rejects(table)
    assert counted(table) + len(rejected) == len(records)
    assert [records[position] for position in rejected] == list(rejected.values())
    return set(rejected)


@pytest.mark.parametrize("chunk_records", [1, 7, 4096])
def test_each_hand_made_record_is_in_one_of_the_two_places(tmp_path, chunk_records):
    records = hand_made()
    assert len(records) >= 500

    write(tmp_path / "t", records, chunk_records, batch_records=len(records))

    rejected = each_is_there_once(tmp_path / "t", records)
    good = [at for at in range(len(records)) if at not in rejected]
    assert records.index(b'  {"id": 7}  ') in good
    assert {records.index(None), records.index(b'{"a":NaN}'), records.index(b'{"a":1}{"b":2}')} <= rejected


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_each_fuzzed_record_is_in_one_of_the_two_places(tmp_path, count):
    records = list(fuzzed(Random(SEED), count))

    write(tmp_path / "t", records, chunk_records=500, batch_records=2_000)

    rejected = each_is_there_once(tmp_path / "t", records)
    assert 0.1 * count < len(rejected) < 0.9 * count
