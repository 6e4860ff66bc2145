"""python -m benchmarks.chain [batches]: what a table costs whose stream has published a million batches.

No Spark, so that it measures nothing but manifests. Two tables are made without running their batches, a short one and
a long one, with the manifests of a stream of three partitions. Then, in a process of its own for each table, in turns:
the table is opened, as a reader does; a driver starts to write to it; and it publishes batches of ten records. The
manifests of the long table take 4 GB and the making of them some minutes. Exits with 1 where a goal is missed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import orjson
import pyarrow as pa

from gluepot.commit import FILES, QueryWrites, Target, Write, place_digest, publish
from gluepot.commit.record import CommitRecord, FileEntry
from gluepot.commit.refusal import Origin
from gluepot.commit.rolling import roll_up
from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat
from gluepot.connectors.files.sink import new_file_sink
from gluepot.connectors.files.sink.layout import commit_key
from gluepot.connectors.ports import CommitKey, Manifest, SourceRange
from gluepot.core.storage import open_storage
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.tables import open_table

BATCHES = 1_000_000
SHORT = 1_500
ROUNDS = 5
PUBLISHED = 20
QUERY = "a stream of one second windows"

MOST_OPEN_SECS = 2.0
MOST_START_SECS = 5.0
MOST_BYTES = 100_000_000
MOST_FOR_A_BATCH = 1.2


def ranges_of(batch_id: int) -> tuple[SourceRange, ...]:
    """Return what a batch holds."""
    return tuple(
        SourceRange("kafka", "clicks", "6e1f", str(one), batch_id * 10, batch_id * 10 + 10) for one in range(3)
    )


def make(folder: Path, batches: int) -> None:
    """Make the manifests of a table, without flushes, and roll them up as the stream's driver would have."""
    schema = bytes(pa.schema([(f"column_{number}", pa.string()) for number in range(10)]).serialize())
    made: set[Path] = set()
    for batch_id in range(batches):
        file = FileEntry(f"day={batch_id // 86_400}/run-{batch_id}.parquet", 9000, 30, 1, False, {"format": "parquet"})
        record = CommitRecord(
            CommitKey(QUERY, batch_id, "sink"),
            1,
            1,
            [file],
            ranges_of(batch_id),
            rows_in=30,
            rows_out=30,
            schema=schema,
            committed_at_epoch_ms=1_700_000_000_000 + batch_id * 1000,
            work="0" * 64,
            previous=batch_id - 1,
        )
        path = folder / commit_key(record.key, 1)
        if path.parent not in made:
            path.parent.mkdir(parents=True)
            made.add(path.parent)
        path.write_bytes(record.to_bytes())
    roll_up(open_storage(str(folder)), QUERY, 1, batches)


def held_bytes() -> int:
    """Return the most memory that this process has had."""
    # What getrusage says of a process that was just started is what the one that started it has had.
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)[0]) * 1024


def measure(folder: str, batches: int) -> dict[str, float]:
    """Open a table, start to write to it, publish some batches and undo that."""
    decoder = JsonDecoder(pa.schema([("id", pa.int64())]))
    chunk = decoder.decode([orjson.dumps({"id": number}) for number in range(10)], range(10), "clicks", "0")
    before_bytes, began = held_bytes(), time.perf_counter()
    assert len(open_table(folder).columns) >= 10
    opened_secs, began = time.perf_counter() - began, time.perf_counter()
    writes, storage = QueryWrites(QUERY, 2), open_storage(folder)
    target, write = Target(storage, storage), Write(FILES, folder, "sink")
    published_secs = []
    for batch_id in range(batches, batches + PUBLISHED):
        key = CommitKey(QUERY, batch_id, "sink", place_digest(folder))
        planned = Manifest(key, (), ranges_of(batch_id), token=2)
        writes.begin_attempt(batch_id)
        one_began = time.perf_counter()
        table = writes.open(target, planned, write, lambda _: None)
        table.check(planned, Origin("checkpoint"))
        if batch_id == batches:
            started_secs = time.perf_counter() - began
        sink = new_file_sink(folder, key, ParquetOutputFormat(), ctx="sink")
        part = sink.write(iter([chunk]), 0, f"2/{batch_id}")
        publish(target, replace(table.linked(planned), parts=[replace(part, ranges=planned.ranges, rows_in=10)]))
        table.count(key, 10)
        if batch_id > batches:
            published_secs.append(time.perf_counter() - one_began)
    taken_bytes = held_bytes() - before_bytes
    storage.delete(commit_key(CommitKey(QUERY, one, "sink"), 1) for one in range(batches, batches + PUBLISHED))
    return {
        "open_secs": opened_secs,
        "start_secs": started_secs,
        "batch_secs": median(published_secs),
        "bytes": taken_bytes,
    }


def measured(folder: Path, batches: int) -> dict[str, float]:
    """Return what `measure` does in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.chain", "--measure", str(folder), str(batches)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> int:
    """Measure and print; return 1 where a goal is missed."""
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
        return 0
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else BATCHES
    with tempfile.TemporaryDirectory() as temp:
        tables = {"short": (Path(temp, "short"), SHORT), "long": (Path(temp, "long"), batches)}
        for name, (folder, length) in tables.items():
            began = time.perf_counter()
            make(folder, length)
            print(f"{name}: {length:,} manifests made and rolled up in {time.perf_counter() - began:.0f} s", flush=True)
        rounds = [{name: measured(*table) for name, table in tables.items()} for _ in range(ROUNDS)]
    found = {name: {what: median(one[name][what] for one in rounds) for what in rounds[0][name]} for name in tables}
    for name, one in found.items():
        print(
            f"{name}: open {one['open_secs']:.3f} s, start {one['start_secs']:.3f} s, a batch"
            f" {one['batch_secs'] * 1e3:.1f} ms, memory {one['bytes'] / 1e6:.1f} MB"
        )
    more_bytes = found["long"]["bytes"] - found["short"]["bytes"]
    ratio = found["long"]["batch_secs"] / found["short"]["batch_secs"]
    print(f"the long table takes {more_bytes / 1e6:.1f} MB more; its batches take {ratio:.2f} times as long")
    return int(
        found["long"]["open_secs"] > MOST_OPEN_SECS
        or found["long"]["start_secs"] > MOST_START_SECS
        or more_bytes > MOST_BYTES
        or ratio > MOST_FOR_A_BATCH
    )


if __name__ == "__main__":
    sys.exit(main())
