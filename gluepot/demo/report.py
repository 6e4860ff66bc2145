"""What the demo says at its end."""

from __future__ import annotations

import json
from typing import Literal

from gluepot.demo.scene import DemoResult

LATE_SECONDS = 5.0
"""From here on the closing words say that the events were late."""


def show(result: DemoResult, output: Literal["text", "json"]) -> None:
    """Print the result: one JSON object, or sentences with what to look at next."""
    print(json.dumps(as_json(result)) if output == "json" else as_text(result))


def as_json(result: DemoResult) -> dict[str, object]:
    """Return the object of `--output json`."""
    return {
        "produced": result.produced,
        "rows": result.found.rows,
        "rejected": result.found.rejected,
        "malformed": result.malformed,
        "lost": result.lost,
        "duplicated": result.duplicated,
        "batches": result.batches,
        "p50_batch_seconds": result.p50_batch_seconds,
        "first_commit_seconds": result.first_commit_seconds,
        "late_seconds": result.late_seconds,
        "table": str(result.table),
    }


def as_text(result: DemoResult) -> str:
    """Return the closing words."""
    found = result.found
    verdict = "every event is in the table once" if not (result.lost or result.duplicated) else "THE TABLE IS WRONG"
    late = (
        f"The server took the events {result.late_seconds:.0f} s later than they were due; a lower --rate suits it.\n"
        if result.late_seconds > LATE_SECONDS
        else ""
    )
    return f"""
{result.produced:,} events produced, {result.batches} batches, median batch {result.p50_batch_seconds} s.
{late}\
DuckDB found {found.rows:,} rows in {found.files} files: lost {result.lost}, duplicated {result.duplicated}: {verdict}.
{found.rejected} malformed records were kept aside ({result.malformed} were broken on purpose).

What to look at next
  the script   {result.script}
  the table    {result.table}
  the rejects  {result.table / "_rejects"}
  try          duckdb -c "FROM read_parquet('{result.table}/**/*.parquet', union_by_name=true)"
"""
