"""Changes of orders, as documents; and what they make of a table, worked out by DuckDB."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa

PARTITIONS = 2
_BEGAN = datetime(2026, 1, 2)  # noqa: DTZ001  its text has no zone: each side's session is in UTC
_NEW_SHARE, _DELETED_SHARE = 0.1, 0.05

CHECKSUM = "count(*), sum(hash(order_id, customer_id, status, total, city, epoch_us(updated_at)))"
EXPECTED = """
WITH newest AS (
  SELECT * FROM read_json($files, format='newline_delimited', columns={'order_id': 'BIGINT', 'customer_id': 'BIGINT',
      'status': 'VARCHAR', 'total': 'DOUBLE', 'city': 'VARCHAR', 'updated_at': 'TIMESTAMP'})
  QUALIFY row_number() OVER (PARTITION BY order_id ORDER BY updated_at DESC) = 1
), merged AS (
  SELECT order_id, customer_id, status, total, city, epoch_us(updated_at) AS at_us FROM newest WHERE status <> 'deleted'
  UNION ALL
  SELECT order_id, customer_id, status, total, city, epoch_us(updated_at) FROM base ANTI JOIN newest USING (order_id)
)
SELECT count(*), sum(hash(order_id, customer_id, status, total, city, at_us)) FROM merged
"""


def write(folder: Path, changes: int, rows: int) -> list[Path]:
    """Write a file of documents for each partition of the topic.

    All changes of an order are in one partition, and partitions are equally long, so that a limit on the records of
    a batch cuts off the same ones on both sides and no rest makes a further batch.

    Args:
        folder: where to.
        changes: in all.
        rows: rows of the table; most orders are drawn from these, and some lie beyond them.
    """
    files = []
    for partition in range(PARTITIONS):
        file = folder / f"changes-{partition}.json"
        with file.open("w") as out:
            out.writelines(_documents(partition, changes // PARTITIONS, rows))
        files.append(file)
    return files


def expected(files: list[Path], base: pa.Table) -> tuple[object, ...]:
    """Return the checksum of the table after all changes, whose newest of each order counts."""
    with duckdb.connect() as db:
        db.register("base", base)
        return db.execute(EXPECTED, {"files": [str(file) for file in files]}).fetchall()[0]


def checksum(found: pa.Table) -> tuple[object, ...]:
    """Return the number of rows, and the sum of their hashes."""
    with duckdb.connect() as db:
        db.register("found", found)
        return db.execute(f"SELECT {CHECKSUM} FROM found").fetchall()[0]


def _documents(partition: int, changes: int, rows: int) -> Iterator[str]:
    random = Random(partition)
    for n in range(changes):
        drawn = random.random()
        keys = rows // PARTITIONS
        key = keys + random.randrange(keys) if drawn < _NEW_SHARE else random.randrange(keys)
        status = "deleted" if drawn > 1 - _DELETED_SHARE else random.choice(("paid", "packed", "shipped", "returned"))
        change = {
            "order_id": key * PARTITIONS + partition,
            "customer_id": random.randrange(100_000),
            "status": status,
            "total": random.randrange(100_000) / 4,
            "city": f"city {random.randrange(1000)}",
            "updated_at": str(_BEGAN + timedelta(microseconds=n * PARTITIONS + partition + 1)),
        }
        yield json.dumps(change) + "\n"
