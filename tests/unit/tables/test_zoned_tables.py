"""Tables that were written in a session with a zone: other readers see what the clocks showed, ours the instants."""

from __future__ import annotations

import csv
import datetime as dt
import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import gluepot.table
from gluepot.connectors.files.sink.drift.fitting import widened
from gluepot.core.clock import FakeClock
from gluepot.core.storage import open_storage
from gluepot.frames.schema.glue_types import TIMESTAMP
from gluepot.tables.compact import CompactSettings, compact
from tests.unit.tables.tables import Writer
from tests.zones import NEW_YORK

SUMMER = dt.datetime(2024, 7, 2, 3, 30, tzinfo=dt.UTC)
WINTER = dt.datetime(2024, 1, 2, 3, 30, 0, 120, tzinfo=dt.UTC)
OLD = dt.datetime(1850, 1, 1, tzinfo=dt.UTC)


def batch(*times, n=0):
    rows = [{"n": n + at, "t": one, "l": [one], "m": {"k": one}} for at, one in enumerate(times)]
    schema = pa.schema(
        [("n", pa.int64()), ("t", TIMESTAMP), ("l", pa.list_(TIMESTAMP)), ("m", pa.struct([("k", TIMESTAMP)]))]
    )
    return pa.RecordBatch.from_pylist(rows, schema)


def test_folders_have_the_sessions_time_and_manifests_the_instant(tmp_path):
    Writer(str(tmp_path), partition_keys=["t"], zone=NEW_YORK).publish(0, batch(SUMMER, WINTER, None))

    assert sorted(one.name for one in tmp_path.glob("t=*")) == [
        "t=2024-01-01 22%3A30%3A00.00012",
        "t=2024-07-01 23%3A30%3A00",
        "t=__HIVE_DEFAULT_PARTITION__",
    ]
    found = gluepot.table.open(str(tmp_path)).to_arrow().sort_by("n")
    assert found["t"].to_pylist() == [SUMMER, WINTER, None]
    assert gluepot.table.open(str(tmp_path)).duckdb().sql("SELECT epoch_us(t) FROM gluepot WHERE n = 0").fetchall() == [
        (int(SUMMER.timestamp()) * 10**6,)
    ]


def test_compaction_keeps_instants_and_does_not_mix_zones(tmp_path):
    writer = Writer(str(tmp_path), partition_keys=["t"])
    same_folder = SUMMER - dt.timedelta(hours=4)
    for batch_id in range(2):
        writer.publish(batch_id, batch(same_folder, n=batch_id))
    zoned = replace(writer, zone=NEW_YORK)
    for batch_id in range(2, 5):
        zoned.publish(batch_id, batch(SUMMER, n=batch_id))

    done = list(compact(open_storage(str(tmp_path)), CompactSettings(), FakeClock(1.0), "a"))

    assert len(list(tmp_path.glob("t=*"))) == 1
    assert [one.files for one in done] == [2, 2]
    found = gluepot.table.open(str(tmp_path)).to_arrow().sort_by("n")
    assert found["t"].to_pylist() == [same_folder, same_folder, SUMMER, SUMMER, SUMMER]


@pytest.mark.parametrize("format", ["json", "csv"])
def test_texts_have_the_sessions_offset_and_are_read_back(tmp_path, format):  # noqa: A002
    Writer(str(tmp_path), format, zone=NEW_YORK).publish(0, batch(SUMMER, WINTER, OLD, None))

    found = {int(row["n"]): row.get("t") or None for row in rows_of(tmp_path, format)}
    assert found == {
        0: "2024-07-01T23:30:00.000-04:00",
        1: "2024-01-01T22:30:00.000120-05:00",
        2: "1850-01-01T00:00:00.000Z",
        3: None,
    }
    read = gluepot.table.open(str(tmp_path)).to_arrow().sort_by("n")
    assert read["t"].to_pylist() == [SUMMER, WINTER, OLD, None]
    assert read["l"].to_pylist()[:3] == [[SUMMER], [WINTER], [OLD]]
    assert [one and one["k"] for one in read["m"].to_pylist()][:3] == [SUMMER, WINTER, OLD]


def rows_of(folder: Path, format: str):  # noqa: A002
    (file,) = (one for one in folder.glob("run*"))
    with file.open() as lines:
        return list(csv.DictReader(lines)) if format == "csv" else [json.loads(line) for line in lines]


def test_a_day_in_a_column_of_timestamps_begins_when_the_session_says():
    found, exact = widened(pa.array([dt.date(2024, 7, 1)]), TIMESTAMP, NEW_YORK)

    assert found.to_pylist() == [dt.datetime(2024, 7, 1, 4, tzinfo=dt.UTC)]
    assert exact.to_pylist() == [True]
