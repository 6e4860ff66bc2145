"""Results as a page: `python -m benchmarks.page docs/performance.md benchmarks/results/*.json`."""

from __future__ import annotations

import json
import statistics
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

_COLUMNS = 100
_AT_BLANKS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}

_LEAST_CPU_SECS = 0.1
"""Of a process that is shown."""

HEAD = """\
# Speed

Written by `python -m benchmarks.page` from the files in `benchmarks/results`, not by hand.

A topic is drained into a Parquet table, partitioned by one column, snappy:

- **gluepot**: a Glue script with `if count() > 0` and `write_dynamic_frame`, schema unknown,
  exactly-once.
- **stock**: PySpark in the shape of Glue's library: persist, count, infer, write. The schema is
  inferred from an RDD whose texts go through a Python function.
- **stock-jvm**: the same as a careful PySpark user writes it: `spark.read.json` on a Dataset of
  texts, so that the schema is inferred inside the JVM.
- **tuned**: PySpark with a schema by hand, nothing read twice, checkpoint files without processes.
- **loop**: confluent-kafka and pyarrow in two processes, without Spark, at least once.
- **flink**: Flink SQL with a schema by hand, exactly-once, a checkpoint each second; timed from
  when its job runs.
- **connect**: Kafka Connect with Iceberg's sink, schema unknown, exactly-once, a commit each
  second; timed from when its table appears.

All sides in one run on one broker, in turns. A side's table is read with DuckDB and compared column
by column before its time counts. Each side has worked for half a minute before its first round.
Times are those of a running stream: from the first call of the batch function to the end. A ratio
is the median over the rounds of how many times as long the other side takes. Goals are the
project's own; those that are missed say so. Other measurements follow below.

How many times as long stock PySpark takes, the faster of its sides in all measurements of a work:

"""

_STOCK = ("stock", "stock-jvm")
"""The sides of which the faster one counts at the top of the page."""


def document(results: Sequence[Path]) -> str:
    """Return docs/performance.md."""
    found = [(one, json.loads(one.read_text())) for one in sorted(results)]
    sections = [SECTIONS[kind](result) for kind in SECTIONS for one, result in found if one.stem.startswith(kind)]
    top = "\n".join(
        [*_summary([result for kind in _SUMMARIES for one, result in found if one.stem.startswith(kind)]), ""]
    )
    return "\n".join([HEAD + top, *("\n".join([*map(_fitted, lines), ""]) for lines in sections)])


def _summary(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table of what the results say about the fastest of the stock sides, in whichever of them it is."""
    yield _row(("Work", "Stock takes", "Faster stock side", "Measured"))
    yield _row(("---", "---:", "---", "---"))
    fastest: dict[str, tuple[float, str, str]] = {}
    for result in results:
        at = result["measured_with"]["at"][:10]
        for work, ratios in _against_stock(result):
            found = [(times, name, at) for name, times in ratios.items() if name in _STOCK]
            if found := [*found, *([fastest[work]] if work in fastest else [])]:
                fastest[work] = min(found)
    for work, (times, name, at) in fastest.items():
        yield _row((work, f"{times}", name, at))


def _against_stock(result: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield each work of a result, with how many times as long the other sides take."""
    if "jobs" in result:
        yield from (
            (job["title"], {name: one["secs"] for name, one in job["ratios"].items()}) for job in result["jobs"]
        )
    elif "suite" in result:
        work = f"{_SUITES[result['suite']]}, scale {result['scale']:g}, all queries"
        yield work, {name: one["secs"] for name, one in result["ratios"].items()}
    elif "events" in result:
        work = f"drain, {result['bytes_per_record']} bytes a record{_shape_of(result)}"
        yield work, {name: one["secs"] for name, one in result["ratios"].items()}
    else:
        # Older results name one ratio, that of the only stock side.
        old = {"stock": {"secs": result["times"]}}
        yield "batches used as rows", {name: one["secs"] for name, one in result.get("ratios", old).items()}


def _drain(result: Mapping[str, Any]) -> Iterator[str]:
    said = " Each executor is a process that computes one task at a time; all share the cores."
    yield from _head(
        result,
        f"{result['records']:,} records of {result['bytes_per_record']} bytes{_shape_of(result)}, beside"
        f" {', '.join(result['ratios'])}",
        f"{result['partitions']} partitions, batches of {result['batch_rows']:,}, {result['cores']} cores."
        + (said if result.get("executors") else ""),
    )
    yield from _table(result)


def _batch(result: Mapping[str, Any]) -> Iterator[str]:
    yield from _head(
        result,
        "Batch jobs",
        f"{result['rows']:,} rows in {result['files']} files are read from disk, by unchanged Glue scripts, by stock"
        " Spark and by DuckDB, in turns; the start of Spark and a round to warm up are left out. DuckDB compares what"
        " the sides wrote. The SQL is `GROUP BY` two columns with `COUNT DISTINCT` and sums. Load averages of the"
        f" machine at the end: {', '.join(f'{one:.1f}' for one in result['load'])}.",
    )
    yield _row(("Job", "Side", "Median, s", "CPU, s", "Takes as long", "CPU ratio", "Goal"))
    yield _row(("---", "---", "---:", "---:", "---:", "---:", "---"))
    for job in result["jobs"]:
        for name, side in job["sides"].items():
            ratio = job["ratios"].get(name, {"secs": "", "cpu_secs": "", "goal": ""})
            goal = ratio["goal"] and _unless_missed(ratio["goal"], is_missed=ratio["secs"] < ratio["goal"])
            figures = (side["median_secs"], side["median_cpu_secs"], ratio["secs"], ratio["cpu_secs"])
            yield _row((job["title"], name, *map(str, figures), f"{goal}"))
    yield ""
    for job in result["jobs"]:
        yield f"Seconds of each round, {job['title']}:"
        yield ""
        yield from _rounds({name: side["secs"] for name, side in job["sides"].items()})
        yield ""


def _shape_of(result: Mapping[str, Any]) -> str:
    """Return the name of an odd shape, nothing for records of one shape; and on how many executors, if on any."""
    shape = "" if result["events"][1:].isdecimal() else f", {result['events']}"
    return f"{shape}, {result['executors']} executors" if result.get("executors") else shape


def _price(result: Mapping[str, Any]) -> Iterator[str]:
    yield from _beside_itself(
        result,
        "What exactly-once costs",
        "**unsafe** is the same process without intents, manifests, lease and the driver's flushes: it stages files and"
        " moves them.",
    )


def _watched(result: Mapping[str, Any]) -> Iterator[str]:
    yield from _beside_itself(
        result,
        "What being looked at costs",
        "**watched** is the same process with metrics by partition, Glue's names, page and advisor, asked each second.",
    )


def _s3(result: Mapping[str, Any]) -> Iterator[str]:
    waits = result["ratios"]["s3"]["secs"] / result["ratios"]["near-s3"]["secs"]
    yield from _beside_itself(
        result,
        "What S3 costs",
        "**near-s3** is the same process with the table on an S3 server, which shares the two cores with it; the"
        " checkpoint is on the disk. **s3** is the same behind a proxy that lets each request wait for 50 ms. Batches"
        f" of {result['batch_rows']:,} records are what comes in a window of 2 to 5 s at these rates. So the waiting"
        f" alone makes a drain take {waits:.2f} times as long; the rest is the server's own work on these cores.",
    )


def _beside_itself(result: Mapping[str, Any], title: str, text: str) -> Iterator[str]:
    """Yield the drains of one process in two ways; `text` tells of the other one."""
    yield from _head(result, title, f"{text} {result['records']:,} records of {result['bytes_per_record']} bytes.")
    yield from _table(result)


def _storm(result: Mapping[str, Any]) -> Iterator[str]:
    batches = sum(one["batches"] for storms in result["storms"] for one in storms.values())
    yield from _head(
        result,
        "A storm of scrapes",
        f"{result['scrapes_per_sec']} scrapes a second for {result['secs']} s, {result['slow_sockets']} slow sockets,"
        f" {result['partitions']:,} partitions; aimed at a running job, and in turn at a server of the same metrics"
        f" beside it, {len(result['storms'])} times. Times of all {batches:,} batches, and between what values 95 of"
        " 100 ratios lie when as many batches are drawn again.",
    )
    yield _row(("", "Beside the job, s", "At the job, s", "Ratio", "Between"))
    yield _row(("---", "---:", "---:", "---:", "---"))
    for name, one in result["batch_time"].items():
        low, high = one["likely"]
        yield _row((name, f"{one['beside']}", f"{one['at job']}", f"{one['ratio']}", f"{low} and {high}"))
    yield ""
    moved, goal = result["batch_time"]["p99"]["ratio"], result["p99_goal"]
    yield f"- p99 moved by {moved}, {_goal(goal, is_missed=moved >= goal)}"
    grown, goal = result["growth_mb"], result["growth_goal_mb"]
    yield f"- the driver's memory by {grown} MB, {_goal(goal, is_missed=grown >= goal)}"


def _latency(result: Mapping[str, Any]) -> Iterator[str]:
    yield from _head(
        result,
        "Record to visible",
        f"{result['rate']:,} records a second, one batch after the other; from the making of a record to the moment at"
        " which its file has its final name, ours: at which the manifest is there, flushed to disk. The producer's wait"
        f" for a request to fill, at most {result['linger_ms']} ms, is a part of it. Milliseconds of each round.",
    )
    yield _row(("Side", "p50", "p99", "Moments with new rows"))
    yield _row(("---",) * 4)
    for name, side in result["sides"].items():
        yield _row((name, *(", ".join(map(str, side[key])) for key in ("p50_ms", "p99_ms", "moments"))))
    yield ""
    for name, one in result["own"].items():
        yield f"- {name} {one['ms']} ms, {_goal(one['goal'], is_missed=one['ms'] > one['goal'])}"
    for name, one in result["ratios"].items():
        goal = one["goal"]
        yield f"- {one['time']} of {name}" + (f", {_goal(goal, is_missed=one['time'] > goal)}" if goal else "")


def _drift(result: Mapping[str, Any]) -> Iterator[str]:
    sizes = " and ".join(f"{size_bytes / result['records']:.0f}" for size_bytes in result["bytes"].values())
    yield from _head(
        result,
        "Records that change their shape",
        "A further column every 50,000 records, a column that is a whole number, then one with a fraction, then text,"
        f" and further fields in an object; beside records of one shape. {result['records']:,} records of {sizes}"
        f" bytes; every value was found by DuckDB.",
    )
    yield from _rounds(result["secs"])
    yield f"- {result['rate']} of the rate, {_goal(result['goal'], is_missed=result['rate'] < result['goal'])}"


def _sql(result: Mapping[str, Any]) -> Iterator[str]:
    yield from _head(
        result,
        "Batches used as rows",
        f"`DynamicFrame.fromDF(frame).toDF()` and SQL like a MERGE, on batches of {result['batch_rows']:,}; seconds of"
        f" {result['records']:,} records.",
    )
    yield from _rounds(result["secs"])
    ratios = result.get("ratios", {"stock": {"secs": result["times"]}})  # older results have one other side
    for name, one in ratios.items():
        goal = _goal(result["goal"], is_missed=one["secs"] < result["goal"])
        yield f"- {name} takes {one['secs']} times as long, {goal}"


_FORMATS = {"iceberg": "Iceberg", "delta": "Delta"}


def _merge(result: Mapping[str, Any]) -> Iterator[str]:
    yield from _head(
        result,
        f"Changes merged into a table of {_FORMATS[result.get('form', 'iceberg')]}",
        f"{result['batches']} batches of {result['batch_rows']:,} changes into {result['rows']:,} rows, by the same"
        " statements on all sides; PyIceberg or delta-rs reads the tables, which must be what DuckDB makes of the"
        " changes.",
    )
    yield from _rounds(result["secs"])
    ratios = result.get("ratios", {"stock": {"secs": result["time"]}})  # older results have one other side
    for name, one in ratios.items():
        cpu = f", {one['cpu_secs']} of its processor time" if "cpu_secs" in one else ""
        goal = _goal(result["goal"], is_missed=one["secs"] > result["goal"])
        yield f"- {one['secs']} of the time of {name}{cpu}, {goal}"
    if "load" in result:
        yield f"- load averages of the machine at the end: {', '.join(f'{one:.1f}' for one in result['load'])}"


def _tpc(result: Mapping[str, Any]) -> Iterator[str]:
    medians = {name: side["medians"] for name, side in result["sides"].items()}
    queries = list(next(iter(medians.values())))
    yield from _head(
        result,
        f"{_SUITES[result['suite']]}, scale {result['scale']:g}",
        f"{len(queries)} queries, each a job of its own that reads its tables from Parquet files and writes its result;"
        " the start of Spark and a round to warm up are left out. Every side must write what stock Spark writes. These"
        " are no official results of the TPC. Load averages of the machine at the end:"
        f" {', '.join(f'{one:.1f}' for one in result['load'])}.",
    )
    yield "Seconds that all queries take together, of each round:"
    yield ""
    yield from _rounds({name: side["secs"] for name, side in result["sides"].items()})
    for name, one in result["ratios"].items():
        goal = "" if one["goal"] is None else f", {_goal(one['goal'], is_missed=one['secs'] < one['goal'])}"
        yield (
            f"- {name} takes {one['secs']} times as long, {one['cpu_secs']} times the processor time; geometric mean of"
            f" the queries {one['geometric_mean']}{goal}"
        )
    yield ""
    yield "Medians of each query, in seconds:"
    yield ""
    yield _row(("Query", *medians))
    yield _row(("---", *("---:" for _ in medians)))
    for query in queries:
        yield _row((query.removeprefix("q"), *(f"{side[query]:.2f}" for side in medians.values())))


def _scale(result: Mapping[str, Any]) -> Iterator[str]:
    yield from _head(
        result,
        "Partitions and sizes of batches",
        "Gluepot alone, each load in processes of its own. Processor time and memory are those of driver, JVM and"
        " workers together, pages that they share counted for each of them.",
    )
    yield _row(("Partitions", "Rows of a batch", "Records", "Records/s", "CPU s a million", "Peak RSS in MB"))
    yield _row(("---:",) * 6)
    for one in result["loads"]:
        shown = (one["partitions"], one["batch_rows"], one["records"], one["records_per_sec"])
        yield _row([*(f"{value:,}" for value in shown), str(one["cpu_secs_per_million"]), f"{one['peak_rss_mb']:,}"])


def _startup(result: Mapping[str, Any]) -> Iterator[str]:
    yield from _head(
        result,
        "From start to first rows",
        f"A new process each round, in turns, on {result['cores']} cores. The batch job reads and writes ten rows and"
        f" is timed to its end. The stream reads a topic of {result['records']:,} records and is timed to the moment at"
        " which its manifest is there, stock PySpark with `foreachBatch` to its first file; after a kill, to the next"
        " manifest."
        " **old** is another checkout. Processor time is that of all processes until they have ended.",
    )
    for name, case in result["cases"].items():
        goal = case["goal_secs"]
        missed = ", missed" if statistics.median(case["secs"]["gluepot"]) > goal else ""
        yield f"Start of a {name}, seconds of each round; goal {goal} s{missed}:"
        yield ""
        for side, secs in case["secs"].items():
            cpu = ", ".join(map(str, case["cpu_secs"][side]))
            of_side = f"; gluepot takes {case['time'][side]} of its time" if side in case["time"] else ""
            yield f"- {side}: {', '.join(map(str, secs))}; processor time {cpu}{of_side}"
        yield ""
    for number, (name, case) in enumerate(result["cases"].items()):
        if number:
            yield ""
        yield f"One more start of a {name}, watched: its phases, and its processes with their begin and processor time."
        yield ""
        yield _row(("Phase", "s", "Process", "From, s", "Processor time, s"))
        yield _row(("---", "---:", "---", "---:", "---:"))
        seen = [one for one in case["processes"] if one["cpu_secs"] >= _LEAST_CPU_SECS]
        for phase, process in zip_longest(case["phases"], seen):
            left = (phase["name"], f"{phase['secs']}") if phase else ("", "")
            right = (process["name"], f"{process['began_secs']}", f"{process['cpu_secs']}") if process else ("",) * 3
            yield _row((*left, *right))


def _files(result: Mapping[str, Any]) -> Iterator[str]:
    yield from _head(
        result,
        "Files",
        "A stream that commits each second, then `gluepot table compact`; beside stock PySpark's `foreachBatch`. The"
        " scan is DuckDB's, of every value, median of several.",
    )
    yield _row(("Side", "Rows", "Files", "Bytes", "Scan, s"))
    yield _row(("---", "---:", "---:", "---:", "---:"))
    for name, one in result["sides"].items():
        yield _row((name, f"{one['rows']:,}", f"{one['files']:,}", f"{one['bytes']:,}", f"{one['scan']:.3f}"))
    yield ""
    for name, goal in result["goals"].items():
        seen = result["ratios"][name]
        yield f"- {name}: {seen} of foreachBatch's, {_goal(goal, is_missed=seen > goal)}"


_STORES = {"disk": "a disk", "s3": "S3"}


def _crawl(result: Mapping[str, Any]) -> Iterator[str]:
    server = f" The S3 server is {result['server']} on the same machine." if result["server"] else ""
    yield from _head(
        result,
        f"Crawls of {result['files']:,} files",
        f"Small files of JSON in {result['partitions']:,} partitions.{server} After the first"
        " crawl, each further one finds one new folder, with `--new-folders-only`. The **bare listing** lists every"
        " folder above the partitions and the new one, which it is told, on S3 with as many requests at a time as the"
        " crawl. A **listing that knows the partitions** reads their names from a text file, and so finds out which"
        " folder is new, as the crawl does. Memory is the most that a whole process took. Load averages of the"
        f" machine at the end: {', '.join(f'{one:.1f}' for one in result['load'])}.",
    )
    stores, goals = result["stores"], result["goals"]
    yield _row(("", *(_STORES[name] for name in stores)))
    yield _row(("---", *("---:" for _ in stores)))
    for title, side in (("First crawl", "first"), ("Crawl of everything again", "again")):
        if all(side in one for one in stores.values()):
            yield _row((title, *(f"{one[side]['secs']:,} s, {one[side]['peak_mb']} MB" for one in stores.values())))
    listings = (("Bare listing, s", "bare"), ("Listing that knows, s", "knowing"))
    for title, side in (("One new folder, s", "new"), *listings):
        if all(side in one for one in stores.values()):
            yield _row((title, *(", ".join(map(str, one[side]["secs"])) for one in stores.values())))
    yield ""
    for name, one in stores.items():
        ratio = _goal(goals["ratio"], is_missed=one["ratio"] > goals["ratio"])
        peak = _goal(goals["peak_mb"], is_missed=one["peak_mb"] > goals["peak_mb"])
        bare = f", and {one['ratio_bare']} times as long as the bare one" if "ratio_bare" in one else ""
        listing = "a listing that knows the partitions" if bare else "the bare listing"
        yield (
            f"- On {_STORES[name]}, the crawl of one new folder takes {one['ratio']} times as long as {listing},"
            f" {ratio}{bare}; the crawls take at most {one['peak_mb']} MB, {peak}"
        )


_SUITES = {"tpch": "TPC-H", "tpcds": "TPC-DS"}
_SUMMARIES = ("drain", "batch", "tpc", "sql")
"""What the names of those results begin with that are in the table at the top."""

SECTIONS = {
    "drain": _drain,
    "batch": _batch,
    "tpc": _tpc,
    "price": _price,
    "watched": _watched,
    "s3": _s3,
    "storm": _storm,
    "scale": _scale,
    "latency": _latency,
    "startup": _startup,
    "drift": _drift,
    "sql": _sql,
    "merge": _merge,
    "files": _files,
    "crawl": _crawl,
}
"""By what the names of result files begin with."""


def _head(result: Mapping[str, Any], title: str, text: str) -> Iterator[str]:
    """Yield what every section begins with: its title, what was done, and with what it was measured."""
    yield f"## {title}"
    yield ""
    yield f"{text} {_measured(result)}"
    yield ""
    yield from _command(result["measured_with"]["command"])
    yield ""


def _measured(result: Mapping[str, Any]) -> str:
    machine = result["measured_with"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    kernel = "with" if machine.get("json_kernel") else "without"  # older results had none
    return (
        f"{machine['at']}: {machine['processor']}, {machine['cpus']} CPUs, {machine['memory_gb']} GB;"
        f" {packages}, {kernel} the JSON kernel, Python {machine['python']}, {machine['java']};"
        f" commit {machine['commit']}."
    )


def _command(command: str) -> Iterator[str]:
    """Yield a command as a block of code, in as many lines as it needs."""
    lines = textwrap.wrap(f"$ {command}", _COLUMNS - len(" \\"), subsequent_indent="    ", **_AT_BLANKS)
    yield "```console"
    yield from (f"{line} \\" for line in lines[:-1])
    yield lines[-1]
    yield "```"


def _fitted(line: str) -> str:
    """Break a paragraph or an item that is too wide; rows of tables cannot be broken."""
    if line.startswith("|"):
        return line
    return textwrap.fill(line, _COLUMNS, subsequent_indent="  " if line.startswith("- ") else "", **_AT_BLANKS)


def _rounds(times: Mapping[str, Sequence[float]]) -> Iterator[str]:
    for name, secs in times.items():
        yield f"- {name}: {', '.join(map(str, secs))} s"


def _goal(goal: float, *, is_missed: bool) -> str:
    return f"goal {_unless_missed(goal, is_missed=is_missed)}"


def _unless_missed(goal: object, *, is_missed: bool) -> str:
    return f"{goal}{', missed' if is_missed else ''}"


def _table(result: Mapping[str, Any]) -> Iterator[str]:
    yield _row(("Side", "Records/s", "CPU s a million", "Takes as long", "CPU ratio", "Goal"))
    yield _row(("---", "---:", "---:", "---:", "---:", "---"))
    for name, side in result["sides"].items():
        figures = (f"{side['records_per_sec']:,}", str(side["cpu_secs_per_million"]))
        yield _row((name, *figures, *_ratios(result["ratios"].get(name))))
    yield ""
    yield "Seconds of each round:"
    yield ""
    yield from _rounds({name: side["secs"] for name, side in result["sides"].items()})


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ratios(ratio: Mapping[str, Any] | None) -> tuple[str, str, str]:
    if ratio is None:
        return "", "", ""
    seen, goal, ceiling = ratio["secs"], ratio["goal"], ratio.get("ceiling")  # older results had no ceiling
    wanted = "" if goal is None else _unless_missed(goal, is_missed=seen < goal)
    allowed = "" if ceiling is None else _unless_missed(f"at most {ceiling}", is_missed=seen > ceiling)
    return f"{seen}", f"{ratio['cpu_secs']}", wanted or allowed


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(document([Path(one) for one in sys.argv[2:]]))
