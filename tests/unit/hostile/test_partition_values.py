"""Partition values that would like to be paths, patterns or commands stay below the table and come back as they were."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa

from gluepot.commit import open_target, publish
from gluepot.connectors.files.formats.parquet.sink import glueparquet_sink
from gluepot.connectors.files.partition_folders import partition_values
from gluepot.connectors.values import CommitKey, Manifest
from gluepot.frames.chunk import Chunk

SEED = 20261121
DANGEROUS = (
    "..", ".", "/", "\\", "~", "-", "--", "=", "%", "%2e%2e", "%2F", "%00", "\0", "\n", "\r", "\t", "\x1b[31m", "\x7f", "*", "?", "[a]",
    "{a,b}", "$HOME", "$(id)", "`id`", ";", "|", "&", "'", '"', "#", ":", "C:", "CON", "nul", " ", "  x  ", ".hidden", "trailing.", "_", "_gluepot",
    "_rejects", "é", "e\u0301", "\u202e", "\ufeff", "\u2028", "中", "😀", "day=1", "a=b=c", "null", "None", "007", "1e3", "true", "2026-11-21",
    "__HIVE_DEFAULT_PARTITION_", "x" * 200,
)  # fmt: skip


def hostile(count: int) -> Iterator[str]:
    """Yield values that are all different: the dangerous pieces, pairs of them, then random strings of them."""
    random, seen = Random(SEED), set()
    pairs = ("".join(pair) for pair in product(DANGEROUS[:20], repeat=2))
    chance = ("/".join(random.choices(DANGEROUS[:-1], k=random.randrange(2, 5))) for _ in iter(int, 1))
    for source in (DANGEROUS, pairs, chance):
        for value in source:
            if value not in seen:
                seen.add(value)
                yield value
            if len(seen) == count:
                return


def test_500_hostile_values_leave_nothing_outside_the_table_and_come_back_equal(tmp_path):
    values = list(hostile(500))
    table = tmp_path / "around" / "table"
    sink = glueparquet_sink(str(table), CommitKey("q", 0, "s"), {}, ctx="", rejects_path=None, partition_keys=("k",))
    rows = pa.record_batch({"k": values, "n": range(len(values))})

    part = replace(sink.write(iter([Chunk(rows)]), 0, "1/a"), rows_in=len(values))
    publish(open_target(sink), Manifest(sink.key, [part], token=1))

    outside = [Path(folder) / name for folder, _, names in os.walk(tmp_path) for name in names]
    assert all(path.is_relative_to(table) for path in outside)
    found = {}
    with duckdb.connect() as db:
        for path in table.rglob("*.parquet"):
            value = partition_values(path.parent.relative_to(table).as_posix())["k"]
            found.update(
                dict.fromkeys(
                    (n for (n,) in db.execute("SELECT n FROM read_parquet(?)", [str(path)]).fetchall()), value
                )
            )
    assert found == dict(enumerate(values))
