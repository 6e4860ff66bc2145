"""The loop that people write when they leave Spark: confluent-kafka and pyarrow, a process a core, at least once.

Nothing is known of schemas that drift or of records that are broken; files appear when they are renamed, and offsets
are committed after that. What is missing beside the other sides is the price of theirs.
"""

from __future__ import annotations

import io
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet as pq
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from benchmarks.side import Drain, serve

CONSUME = 10_000
WAIT_SECS = 10.0


def main(bootstrap: str, topic: str, batch_rows: str, cores: str, _shape: str) -> None:
    """Drain with as many processes as there are cores, each with a share of the partitions."""
    processes = int(cores)
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(abs, range(processes)))  # so that they are there before anybody looks at a clock

        def drain(given: Drain) -> float:
            began = time.perf_counter()
            shares = [(bootstrap, topic, int(batch_rows) // processes, given, n, processes) for n in range(processes)]
            list(pool.map(_drain_share, shares))
            return began

        serve(drain)


def _drain_share(share: tuple[str, str, int, Drain, int, int]) -> None:
    bootstrap, topic, batch_rows, given, nth, processes = share
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"loop-{given.table}",
            "enable.auto.commit": False,
            "queued.max.messages.kbytes": 262_144,
            "fetch.message.max.bytes": 8_388_608,
        }
    )
    try:
        partitions = sorted(consumer.list_topics(topic, timeout=WAIT_SECS).topics[topic].partitions)[nth::processes]
        held = [TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in partitions]
        left = sum(high - low for low, high in (consumer.get_watermark_offsets(one, timeout=WAIT_SECS) for one in held))
        consumer.assign(held)
        number = 0
        while left:
            values: list[bytes] = []
            wanted = min(left, batch_rows)
            while len(values) < wanted:
                taken = consumer.consume(min(CONSUME, wanted - len(values)), timeout=WAIT_SECS)
                values += [message.value() for message in taken]
            left -= len(values)
            _write(values, Path(given.table), f"{nth}-{number}")
            consumer.commit(asynchronous=False)
            number += 1
    finally:
        consumer.close()


def _write(values: list[bytes], table: Path, name: str) -> None:
    rows = pyarrow.json.read_json(io.BytesIO(b"\n".join(values)))
    columns = [column for column in rows.column_names if column != "country"]
    for country in pc.unique(rows["country"]).to_pylist():
        part: pa.Table = rows.filter(pc.equal(rows["country"], country)).select(columns)
        folder = table / f"country={country}"
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{name}.parquet.tmp"
        pq.write_table(part, temporary, compression="snappy")
        temporary.rename(folder / f"{name}.parquet")


if __name__ == "__main__":
    main(*sys.argv[1:])
