"""`gluepot table`: shows and verifies tables, compacts their files, and maintains tables of Iceberg and Delta."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal
from uuid import uuid4

from cyclopts import App, Parameter

from gluepot.cli.exit_codes import FINDINGS
from gluepot.cli.table import report
from gluepot.commit.history import every
from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat
from gluepot.connectors.files.sink.layout import COMMITS, ROLLUPS
from gluepot.connectors.lake import AWS
from gluepot.core.clock import SystemClock
from gluepot.core.storage import canonical_url, open_storage
from gluepot.tables import open_table
from gluepot.tables.compact import TARGET_BYTES, Compacted, CompactSettings, Refused, planned
from gluepot.tables.compact import compact as compact_table
from gluepot.tables.evolution import column_histories, in_time_order
from gluepot.tables.table import no_table, tables_below
from gluepot.tables.verify import Verification
from gluepot.tables.verify import verify as verify_table

Output = Literal["text", "json"]

app = App(name="table", help="Look at a table that jobs wrote, through its manifests; keep up one of Iceberg or Delta.")


@app.command
def files(path: str, *, output: Output = "text") -> None:
    """List the files that make up a table, with sizes, rows and the batch that published each.

    Args:
        path: the table's folder, local or s3://bucket/prefix.
        output: text for people; json for programs, a list of objects.
    """
    report.show(report.files(open_table(path)), output)


@app.command
def verify(path: str, *, rejects_path: str | None = None, output: Output = "text") -> None:
    """Read a whole table and compare it with its manifests; exit code 0 if it is clean, 3 with findings.

    This checks that every file exists with its size, CRC and rows; that manifests name every file; that input, rows,
    rejected and filtered records add up; that no batch overlaps another; and that there is no gap between batches.
    In a folder of tables, such as one for each hour, each of them is checked.

    Args:
        path: the table's folder, or a folder of tables; local or s3://bucket/prefix.
        rejects_path: the job's rejectsPath, if the rejected records are not below the table.
        output: text for people; json for programs, one object, or a list of objects for a folder of tables.
    """
    root = open_storage(path)
    below = [] if root.list(COMMITS) or root.list(ROLLUPS) else tables_below(root)
    if not below:
        found = _verified(path, rejects_path)
        report.show(report.verification(path, found), output)
        if found.findings:
            raise SystemExit(FINDINGS)
        return
    checked = [(where, _verified(where, rejects_path)) for where in (f"{path.rstrip('/')}/{one}" for one in below)]
    report.show(report.verifications(checked), output)
    if any(found.findings for _, found in checked):
        raise SystemExit(FINDINGS)


def _verified(path: str, rejects_path: str | None) -> Verification:
    other = rejects_path if rejects_path and canonical_url(rejects_path) != canonical_url(path) else None
    return verify_table(open_storage(path), open_storage(other) if other else None)


@app.command
def history(path: str, *, output: Output = "text") -> None:
    """List everything that was published, in order of time, including replaced batches.

    Args:
        path: the table's folder, local or s3://bucket/prefix.
        output: text for people; json for programs, a list of objects.
    """
    storage = open_storage(path)
    commits = in_time_order(every(storage))
    if not commits:
        raise no_table(storage)
    report.show(report.history(commits), output)


@app.command
def schema(path: str, *, history: bool = False, output: Output = "text") -> None:
    """Show the columns of a table.

    Args:
        path: the table's folder, local or s3://bucket/prefix.
        history: show for each column the batch in which it appeared and the batches in which its type changed.
        output: text for people; json for programs, a list of objects.
    """
    table = open_table(path)
    shown = report.column_histories(column_histories(in_time_order(table.commits))) if history else report.schema(table)
    report.show(shown, output)


@app.command
def compact(
    path: str,
    *,
    target_mb: int = TARGET_BYTES >> 20,
    compression: str = "zstd",
    sort_by: str | None = None,
    dry_run: bool = False,
    output: Output = "text",
) -> None:
    """Replace many small Parquet files by few large ones, while jobs write the table and readers read it.

    Manifests stay as they are, so a compaction neither loses nor doubles rows. It leaves out the newest batch of each
    query and everything that batch jobs wrote. For a moment between two steps, readers that list the folder see the
    rows of a file twice or not at all; readers that use the manifests (`gluepot.table`) never do.

    Each file is compared with its manifest before it is replaced. A file that is damaged, short or missing is left
    alone and named on standard error; the other files are compacted, and the exit code is 3.

    Args:
        path: the table's folder, local or s3://bucket/prefix.
        target_mb: about how many megabytes of files are combined into one.
        compression: of the new files: zstd, snappy, gzip, lz4, brotli or none.
        sort_by: a column to sort each new file by, so that readers skip more of it.
        dry_run: only say what would be replaced.
        output: text for people; json for programs, a list of objects.
    """
    storage = open_storage(path)
    settings = CompactSettings(target_mb << 20, ParquetOutputFormat.from_glue({"compression": compression}), sort_by)
    owner = uuid4().hex[:12]
    outcomes = list(planned(storage, settings) if dry_run else compact_table(storage, settings, SystemClock(), owner))
    report.show(report.compacted([one for one in outcomes if isinstance(one, Compacted)]), output)
    refused = [one.message for one in outcomes if isinstance(one, Refused)]
    for message in refused:
        print(message, file=sys.stderr)
    if refused:
        raise SystemExit(FINDINGS)


@app.command
def optimize(
    table: str,
    *,
    keep_days: float = 7,
    orphan_days: float = 3,
    dry_run: bool = False,
    conf: list[str] | None = None,
    jars_dir: Annotated[Path | None, Parameter(env_var="GLUEPOT_JARS_DIR")] = None,
    aws: Annotated[bool, Parameter(env_var=AWS)] = False,
    master: str = "local[*]",
) -> None:
    """Combine small files of an Iceberg or Delta table, and remove snapshots and files that are no longer needed.

    Jobs may write the table meanwhile. The information by which they recognise a batch that is already written is kept.
    Prints one line of JSON for each step.

    Args:
        table: catalog.database.table of Iceberg, or the folder of a Delta table.
        keep_days: for how many days old snapshots stay readable.
        orphan_days: minimum age in days at which a file that nothing refers to is removed; Iceberg only, at least 1.
        dry_run: only say what would be done.
        conf: NAME=VALUE for Spark, such as a catalog of your own. May be repeated.
        jars_dir: a folder with the archives, made by `gluepot jars fetch --jars-dir`.
        aws: the table is in the catalog of AWS Glue; without this, it is in the local catalog.
        master: Spark master.
    """
    from gluepot.datalake.optimize import JOB, job_arguments  # noqa: PLC0415  as below
    from gluepot.job.options import RunOptions  # noqa: PLC0415  as below
    from gluepot.job.run import run  # noqa: PLC0415  slow to import, and the other commands only read files

    arguments = job_arguments(table, conf or (), keep_days, orphan_days, dry_run=dry_run)
    run(JOB, arguments, RunOptions(master=master, jars_dir=jars_dir, aws=aws))
