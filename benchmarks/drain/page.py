"""Results of drains as a page: `python -m benchmarks.drain.page docs/performance.md benchmarks/results/*.json`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HEAD = """\
# Speed

Written by `python -m benchmarks.drain.page` from the files in `benchmarks/results`, not by hand.

A topic is drained into a Parquet table, partitioned by one column, snappy:

- **gluepot**: a Glue script with `count()` and `write_dynamic_frame`, schema unknown, exactly-once.
- **stock**: PySpark in the shape of Glue's library: persist, count, infer, write.
- **tuned**: PySpark with a schema by hand, nothing read twice, checkpoint files without processes.
- **loop**: confluent-kafka and pyarrow in two processes, without Spark, at least once.

All sides in one run on one broker, in turns. A side's table is read with DuckDB and compared column by column before
its time counts. Times are those of a running stream: from the first call of the batch function to the end. A ratio is
the median over the rounds of how many times as long the other side takes. Goals are the project's own; those that are
missed say so.
"""


def main(page: Path, results: Sequence[Path]) -> None:
    """Write the page anew."""
    page.write_text("\n".join([HEAD, *(_section(json.loads(one.read_text())) for one in sorted(results))]))


def _section(result: Mapping[str, Any]) -> str:
    return "\n".join([*_told(result), *_table(result), ""])


def _told(result: Mapping[str, Any]) -> Iterator[str]:
    machine = result["measured_with"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    yield f"## {result['records']:,} records of {result['bytes_per_record']} bytes"
    yield ""
    yield (
        f"{result['partitions']} partitions, batches of {result['batch_rows']:,}, {result['cores']} cores."
        f" {machine['at']}: {machine['processor']}, {machine['cpus']} CPUs, {machine['memory_gb']} GB; {packages},"
        f" Python {machine['python']}, {machine['java']}; commit {machine['commit']}. `{machine['command']}`"
    )
    yield ""


def _table(result: Mapping[str, Any]) -> Iterator[str]:
    columns = ("Side", "Records/s", "Seconds of each round", "CPU s a million", "Takes as long", "CPU ratio", "Goal")
    yield _row(columns)
    yield _row(("---", "---:", "---", "---:", "---:", "---:", "---"))
    for name, side in result["sides"].items():
        rounds = ", ".join(map(str, side["secs"]))
        figures = (f"{side['records_per_sec']:,}", rounds, str(side["cpu_secs_per_million"]))
        yield _row((name, *figures, *_ratios(result["ratios"].get(name))))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ratios(ratio: Mapping[str, Any] | None) -> tuple[str, str, str]:
    if ratio is None:
        return "", "", ""
    goal = "" if ratio["goal"] is None else f"{ratio['goal']}"
    missed = goal and ratio["secs"] < ratio["goal"]
    return f"{ratio['secs']}", f"{ratio['cpu_secs']}", f"{goal}, missed" if missed else goal


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(one) for one in sys.argv[2:]])
