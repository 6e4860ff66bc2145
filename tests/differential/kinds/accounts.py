"""The account of records: random files and scripts, whose balances are compared with the files themselves.

The generator knows how many lines of each input are broken, DuckDB counts the rows of each output, and the files of
rejected records must hold exactly the broken lines. Some runs die before their commit and are repeated.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import duckdb

from gluepot.bookmarks import jobrun
from gluepot.bookmarks.ledger import ledger_url, open_ledger
from gluepot.bookmarks.run_writer import RunWriters
from gluepot.core.clock import SystemClock
from gluepot.core.on_malformed import OnMalformed
from gluepot.engine.account import Account
from gluepot.engine.readings import READINGS
from gluepot.streaming.query import session
from tests.differential.kind import Difference, Round, World

JOBS = 8
_BROKEN = {
    # Each is one record, wherever it stands: an open brace could begin a document, and an array is several records.
    "json": (b'{"id": 1 "k": 2}', b"7", b"\xff\xfe", b"nonsense", b'{"id": 1}}', b'"text"'),
    "csv": (b"1", b"1,2,3,4", b"\xff,b,c", b'1,"b,c'),
}


@dataclass(slots=True)
class Job:
    """One job: files, what its script does with them, and how it runs.

    Args:
        form: format of the files.
        files: lines by file, in the order of the runs that find them.
        uses: names of what the script does with the frame, in order.
        on_malformed: what happens to broken lines.
        has_bookmarks: whether it saves what it has read.
        dies: whether the first attempt of each run dies before its commit.
    """

    form: str
    files: list[list[list[bytes]]]
    uses: list[str]
    on_malformed: OnMalformed
    has_bookmarks: bool
    dies: bool
    broken: list[Counter[bytes]] = field(default_factory=list)


class Kind:
    """See `tests.differential.kind.Kind`."""

    name = "accounts"
    unit = "runs"

    def __init__(self, jobs: int = JOBS) -> None:
        self._jobs = jobs

    def round(self, random: Random, world: World) -> Round:
        """Run some jobs, and compare the account of each of their runs with its files."""
        from awsglue.context import GlueContext

        context, result = GlueContext(world.spark().sparkContext), Round()
        for number in range(self._jobs):
            job, folder = new_job(random), world.folder / f"job{number}"
            for run, (ours, theirs) in enumerate(runs(job, context, folder)):
                result.cases += 1
                result.taken += 1
                if ours != theirs:
                    result.differences.append(Difference(f"run {run} of {job}", repr(ours), repr(theirs)))
        return result


def new_job(random: Random) -> Job:
    """Return a random job."""
    form, has_bookmarks = random.choice(("json", "json", "csv")), random.random() < 0.8
    job = Job(
        form,
        [],
        random.choices(list(_USES), k=random.randint(1, 4)),
        random.choice((OnMalformed.KEEP, OnMalformed.KEEP, OnMalformed.DROP)),
        has_bookmarks,
        has_bookmarks and random.random() < 0.3,
    )
    for _ in range(random.randint(1, 3) if has_bookmarks else 1):
        broken: Counter[bytes] = Counter()
        files = []
        for _ in range(random.randint(1, 3)):
            lines = [_line(form, random) for _ in range(random.choice((0, 1, 3, 20, 200)))]
            for _ in range(random.choice((0, 0, 1, 3, 30))):
                bad = random.choice(_BROKEN[form])
                if form == "csv" and not lines:
                    continue  # the first line says how many values there are
                broken[bad] += 1
                lines.insert(random.randint(form == "csv", len(lines)), bad)
            files.append(lines)
        job.files.append(files)
        job.broken.append(broken)
    return job


def _line(form: str, random: Random) -> bytes:
    number, key = random.randrange(100), random.choice("abc")
    if form == "csv":
        return f"{number},{key},x".encode()
    return json.dumps({"id": number, "k": key, **({"late": 1.5} if random.random() < 0.1 else {})}).encode()


def runs(job: Job, context: Any, folder: Path) -> Iterator[tuple[object, object]]:
    """Run a job as often as it finds new files; yield what its account says, and what its files say."""
    for number, files in enumerate(job.files):
        (folder / "in").mkdir(parents=True, exist_ok=True)
        for at, lines in enumerate(files):
            (folder / f"in/{number}-{at}.{job.form}").write_bytes(b"".join(line + b"\n" for line in lines))
        out = folder / f"out{number}"
        with _process(folder, job.on_malformed) as writers:
            if job.dies:
                _attempt(job, context, folder, out)
                jobrun.end("the attempt dies")
            _attempt(job, context, folder, out).commit()
            account = _saved() if job.has_bookmarks else writers.account()
        lines_read = sum(map(len, files))
        broken = job.broken[number]
        yield _summary(account, out, folder), _expected(job, lines_read, broken, out)
        for rejects in folder.rglob("*.rejects"):
            rejects.unlink()  # those of the next run are compared alone


def _attempt(job: Job, context: Any, folder: Path, out: Path) -> Any:
    """Run the script of a job up to its commit; return Glue's job."""
    from awsglue.job import Job as GlueJob

    option = {"job_bookmark_option": "job-bookmark-enable"} if job.has_bookmarks else {}
    made = GlueJob(context)
    made.init("copy", {"JOB_NAME": "copy", **option})
    options = {"withHeader": False} if job.form == "csv" else {}
    frame = context.create_dynamic_frame.from_options(
        "s3", {"paths": [str(folder / "in")]}, job.form, options, transformation_ctx="lines"
    )
    for at, use in enumerate(job.uses):
        _USES[use](context, frame, out / str(at))
    return made


@contextmanager
def _process(folder: Path, on_malformed: OnMalformed) -> Iterator[RunWriters]:
    """Make the writers and settings of one process, in a state folder of the job's own."""
    writers, current = RunWriters(), session.current()
    READINGS.forget(jobrun.SCRIPT)
    before = current.on_malformed
    current.on_malformed = on_malformed
    try:
        with (
            patch("awsglue.writing.WRITERS", writers),
            patch("awsglue.job.WRITERS", writers),
            patch.dict(os.environ, {"GLUEPOT_STATE": str(folder / "state")}),
        ):
            yield writers
    finally:
        current.on_malformed = before
        jobrun.end("the job is over")


def _saved() -> Account:
    ledger = open_ledger(ledger_url(os.environ), SystemClock())
    (run,) = ledger.runs("copy", 1)
    ledger.close()
    return Account.of_plain(json.loads(run.account or ""))


def _summary(account: Account, out: Path, folder: Path) -> object:
    read, written = account.read, account.writes.written + account.writes.skipped
    counts = (read.records, read.delivered, read.rejected, read.left_out)
    kept = [*out.rglob("*.rejects"), *(folder / "state/rejects").rglob("*.rejects")]
    by_place: defaultdict[str, list[Path]] = defaultdict(list)
    for file in kept:
        by_place[str(file).partition("/_rejects/")[0] if "/_rejects/" in str(file) else ""].append(file)
    raw: Counter[bytes] = Counter()
    for files in by_place.values():
        raw |= _raw(files)  # tables that were made of the same frame keep the same records
    return list(account.imbalances()), counts, written, sorted(raw.items())


def _raw(files: list[Path]) -> Counter[bytes]:
    found = duckdb.sql(f"SELECT raw FROM read_parquet({list(map(str, files))!r})").fetchall() if files else []
    return Counter(raw for (raw,) in found)


def _expected(job: Job, lines: int, broken: Counter[bytes], out: Path) -> object:
    kept = Counter[bytes]() if job.on_malformed is OnMalformed.DROP else broken
    counts = (lines, lines - broken.total(), kept.total(), broken.total() - kept.total())
    return [], counts, _rows(out), sorted(kept.items())


def _rows(out: Path) -> int:
    """Return how many rows DuckDB finds in all outputs."""
    files = [str(file) for file in out.rglob("*.parquet")]
    if not files:
        return 0
    ((rows,),) = duckdb.sql(f"SELECT count(*) FROM read_parquet({files!r}, union_by_name = true)").fetchall()
    return int(rows)


def _write(context: Any, frame: Any, out: Path, **options: Any) -> None:
    context.write_dynamic_frame.from_options(
        frame, "s3", {"path": str(out), **options}, format="glueparquet", transformation_ctx=f"to {out.name}"
    )


def _copied(context: Any, frame: Any, out: Path) -> None:
    _write(context, frame, out)


def _filtered(context: Any, frame: Any, out: Path) -> None:
    from awsglue.transforms import Filter

    _write(context, Filter.apply(frame=frame, f=lambda row: _text(row, "k", "col1") == "a"), out)


def _text(row: Any, *names: str) -> object:
    return next((row[name] for name in names if name in row), None)


def _through_rows(context: Any, frame: Any, out: Path) -> None:
    from awsglue.dynamicframe import DynamicFrame

    rows = frame.toDF()
    rows.count()
    if rows.columns:
        rows = rows.filter(f"`{rows.columns[0]}` is not null").limit(50)
    _write(context, DynamicFrame.fromDF(rows, context, "rows"), out)


def _counted(context: Any, frame: Any, out: Path) -> None:
    frame.count()
    frame.toDF().count()


def _only_counted(context: Any, frame: Any, out: Path) -> None:
    frame.count()


def _only_shown(context: Any, frame: Any, out: Path) -> None:
    frame.show(1)
    frame.errorsCount()


def _twice(context: Any, frame: Any, out: Path) -> None:
    _write(context, frame, out / "first")
    _write(context, frame, out / "second")


def _joined(context: Any, frame: Any, out: Path) -> None:
    from awsglue.transforms import Join

    names = frame.toDF().columns
    if names:
        _write(context, Join.apply(frame, frame, names[:1], names[:1]), out)


_USES: dict[str, Callable[[Any, Any, Path], None]] = {
    "copied": _copied,
    "filtered": _filtered,
    "through_rows": _through_rows,
    "counted": _counted,
    "only_counted": _only_counted,
    "only_shown": _only_shown,
    "twice": _twice,
    "joined": _joined,
}
