"""The data and the thirty rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COUNTRIES = ("DE", "FR", "US", "IN", "BR", "JP", "GB", "ES")
STATES = ("new", "paid", "sent", "back")
FILES = 8

RULES = (
    "RowCount > 1000",
    "ColumnCount = 8",
    'IsComplete "event_id"',
    'IsUnique "event_id"',
    'IsComplete "user_id"',
    'IsComplete "country"',
    'IsComplete "status"',
    'IsComplete "page"',
    'Completeness "price" > 0.85',
    'Completeness "score" > 0.99',
    'DistinctValuesCount "country" = 8',
    'DistinctValuesCount "user_id" > 1000',
    'Entropy "status" > 1',
    'ColumnValues "country" in ["DE", "FR", "US", "IN", "BR", "JP", "GB", "ES"]',
    'ColumnValues "status" in ["new", "paid", "sent", "back"]',
    'ColumnValues "duration_ms" between -1 and 30000',
    'ColumnValues "user_id" >= 0',
    'ColumnValues "score" <= 1',
    'ColumnValues "price" > 0 with threshold > 0.8',
    'ColumnValues "page" matches "^/[a-z]+/[0-9]+$"',
    'ColumnLength "page" between 3 and 40',
    'ColumnLength "country" = 2',
    'ColumnLength "status" <= 4',
    'Mean "duration_ms" between 10000 and 20000',
    'Mean "price" between 100 and 400',
    'Mean "score" between 0.4 and 0.6',
    'Sum "duration_ms" > 1000',
    'StandardDeviation "duration_ms" < 10000',
    'StandardDeviation "price" < 1000',
    'ColumnCorrelation "price" "score" < 0.5',
)


def write_data(folder: Path, rows: int) -> None:
    """Write so many rows as Parquet files."""
    folder.mkdir(parents=True)
    chance = np.random.default_rng(1)
    each = rows // FILES
    for number in range(FILES):
        pages = np.array([f"/{word}/" for word in ("search", "item", "cart", "account")])[chance.integers(0, 4, each)]
        price = pa.array(chance.random(each) * 500 + 0.01, mask=chance.random(each) < 0.1)
        table = pa.table(
            {
                "event_id": pa.array(np.arange(number * each, (number + 1) * each)),
                "user_id": pa.array(chance.integers(0, 500_000, each)),
                "country": pa.array(np.array(COUNTRIES)[chance.integers(0, 8, each)]),
                "status": pa.array(np.array(STATES)[chance.integers(0, 4, each)]),
                "page": pa.array(np.char.add(pages, chance.integers(0, 5_000, each).astype(str))),
                "duration_ms": pa.array(chance.integers(0, 30_000, each)),
                "price": price,
                "score": pa.array(chance.random(each)),
            }
        )
        pq.write_table(table, folder / f"{number}.parquet")
