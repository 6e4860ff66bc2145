"""Puts the same rows into a store with the sink and with the store's own client, in turns, and prints the ratio.

`python -m benchmarks.document_stores mongodb|opensearch [ROWS] [TURNS]`. The sink gets Arrow chunks as a task does. The
client gets Python's values, which it would have to make of such chunks first, as many at a time as the sink sends.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pymongo
from opensearchpy import OpenSearch
from opensearchpy.helpers import bulk

from gluepot.connectors.contracts import DocumentStore
from gluepot.connectors.documents.sink import UnrecordedSink
from gluepot.connectors.registry import connector
from gluepot.connectors.values import CommitKey
from gluepot.frames.chunk import Chunk
from gluepot.frames.objects import batch_from_objects
from tests.mongodb import mongodb_endpoint
from tests.opensearch import opensearch_endpoint

CHUNK_ROWS = 8192
KEY = CommitKey("benchmark", 0, "put")

Rows = list[dict[str, Any]]
Put = Callable[[Rows], None]


@contextmanager
def mongodb() -> Iterator[tuple[DocumentStore, Put]]:
    """Yield our store, and a function that puts rows by pymongo."""
    with mongodb_endpoint() as uri, pymongo.MongoClient(uri) as client:

        def put(rows: Rows) -> None:
            for at in range(0, len(rows), 512):
                some = [pymongo.ReplaceOne({"_id": row["id"]}, row, upsert=True) for row in rows[at : at + 512]]
                client["benchmark"]["client"].bulk_write(some, ordered=False)

        options = {"connection.uri": uri, "database": "benchmark", "collection": "sink"}
        yield connector("mongodb").new_document_store(options), put


@contextmanager
def opensearch() -> Iterator[tuple[DocumentStore, Put]]:
    """Yield our store, and a function that puts rows by opensearch-py."""
    with opensearch_endpoint() as url:
        client = OpenSearch([url])

        def put(rows: Rows) -> None:
            bulk(client, ({"_index": "client", "_id": row["id"], "_source": row} for row in rows), chunk_size=1000)

        options = {"opensearch.nodes": url, "opensearch.resource": "sink", "opensearch.mapping.id": "id"}
        yield connector("opensearch").new_document_store(options), put


def main(kind: str, count: int = 50_000, turns: int = 5) -> None:
    """Print rows in a second of both sides, and their ratio; the first turn warms the server and does not count."""
    rows = [
        {
            "id": f"{n:032x}",
            "n": n,
            "text": f"row {n}",
            "ratio": n / 3,
            "kind": ("a", "b", "c")[n % 3],
            "flag": n % 2 == 0,
        }
        for n in range(count)
    ]
    chunks = [Chunk(batch_from_objects(rows[at : at + CHUNK_ROWS])) for at in range(0, count, CHUNK_ROWS)]
    with {"mongodb": mongodb, "opensearch": opensearch}[kind]() as (store, put):
        sides: dict[str, Callable[[], object]] = {
            "client": lambda: put(rows),
            "sink": lambda: UnrecordedSink(store, KEY).write(iter(chunks), 0, "a"),
        }
        found: dict[str, list[float]] = {name: [] for name in sides}
        for turn in range(turns + 1):
            for name, run in sides.items():
                began = time.perf_counter()
                run()
                if turn:
                    found[name].append(count / (time.perf_counter() - began))
    for name, rates in found.items():
        print(f"{name}: {statistics.median(rates):,.0f} rows/s ({min(rates):,.0f} to {max(rates):,.0f})")
    ratios = [sink / client for sink, client in zip(found["sink"], found["client"], strict=True)]
    print(f"ratio: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
