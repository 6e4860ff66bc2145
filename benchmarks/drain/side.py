"""One side of the comparison: a process that keeps its Spark session and drains the topic whenever it is told to.

Protocol, one JSON object per line: in `{"checkpoint": ..., "table": ...}`, out `{"secs": ..., "batches": [...]}`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Drain:
    """What is measured: from the start of the query to its end, start-up of Spark excluded.

    Args:
        checkpoint: an empty folder.
        table: an empty folder.
    """

    checkpoint: str
    table: str


def serve(drain: Callable[[Drain], list[float]]) -> None:
    """Answer requests until standard input ends.

    Args:
        drain: does the work, returns the seconds of each batch.
    """
    answers = sys.stdout
    sys.stdout = sys.stderr  # what libraries print must not get between the answers
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        began = time.perf_counter()
        batches = drain(Drain(**json.loads(line)))
        print(json.dumps({"secs": time.perf_counter() - began, "batches": batches}), file=answers, flush=True)
