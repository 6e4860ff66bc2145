"""One side of the comparison: a process that keeps its Spark session and drains the topic whenever it is told to.

Protocol, one JSON object per line: in `{"checkpoint": ..., "table": ..., "way": ...}`, out `{"secs": ...,
"whole_secs": ...}`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Drain:
    """Where to drain to.

    Args:
        checkpoint: an empty folder.
        table: an empty folder, or the name of a table.
        way: which of its ways a side drains in, where it knows more than one.
    """

    checkpoint: str
    table: str
    way: str = ""


def master_of(machine: str) -> str:
    """Return the URL of Spark's master: for a number, so many cores in the driver's process, and else what is given."""
    return f"local[{machine}]" if machine.isdecimal() else machine


def serve(drain: Callable[[Drain], float]) -> None:
    """Answer requests until standard input ends.

    Two times are taken: the whole, from making the query to its end, and from the first call of the batch function to
    the end. The second is the drain rate of a running stream; the first adds what it costs to start a query.

    Args:
        drain: does the work, returns `time.perf_counter()` of the first call of the batch function.
    """
    answers = sys.stdout
    sys.stdout = sys.stderr  # what libraries print must not get between the answers
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        began = time.perf_counter()
        first_batch = drain(Drain(**json.loads(line)))
        ended = time.perf_counter()
        print(json.dumps({"secs": ended - first_batch, "whole_secs": ended - began}), file=answers, flush=True)
