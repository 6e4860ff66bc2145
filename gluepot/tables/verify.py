"""Checks a table: every file against its manifest, and the manifests against each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain

from gluepot.commit.rolling import indexes, rolled_records
from gluepot.connectors.files.sink.layout import REJECTS
from gluepot.core.storage import Storage
from gluepot.tables.coverage import Coverage, coverage
from gluepot.tables.file_check import file_finding
from gluepot.tables.files import TableFile, rejects_files, table_files
from gluepot.tables.findings import (
    Finding,
    compaction_findings,
    count_findings,
    coverage_findings,
    missing_findings,
    newest,
    rollup_findings,
    unnamed_files,
)
from gluepot.tables.rejects import rejects_elsewhere
from gluepot.tables.snapshot import snapshot
from gluepot.tables.table import no_table

_PARALLEL_READS = 8


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check found.

    Args:
        commits: number of live writes.
        files: number of their files that were read, data files and rejects files.
        size_bytes: total size of these files.
        rows: number of rows in the data files.
        rejected: number of records in the rejects files.
        filtered: number of records that steps of the script left out.
        left_out: number of malformed records that were left out because the job says so.
        without_ranges: number of commits without source ranges, because their source has none.
        coverage: the ranges in the table.
        unfinished: files of a publication, compaction or purge that is in progress or died; the next start of its job,
            or the next compaction or purge, completes or removes them.
        unchecked: rejects files in another folder that was not given.
        findings: everything that is wrong.
        elsewhere: number of rejected records of the same batches that lie outside of the table, because their rows came
            through a DataFrame; by the URL of their folder.
    """

    commits: int
    files: int
    size_bytes: int
    rows: int
    rejected: int
    filtered: int
    without_ranges: int
    coverage: Sequence[Coverage]
    unfinished: Sequence[str]
    unchecked: Sequence[str]
    findings: Sequence[Finding]
    elsewhere: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0


def verify(storage: Storage, rejects: Storage | None) -> Verification:
    """Read every byte of a table and compare it with the manifests.

    This may run while a job writes: a file that is replaced meanwhile is not reported.

    Args:
        storage: the table's folder.
        rejects: the folder that rejected records were written to; None for the table's own.

    Raises:
        ConfigError: nothing was ever published there.
        CheckpointError: a manifest or an intent cannot be read.
    """
    listing = storage.list("")  # before the snapshot, see `snapshot`
    # Rollups are read before the manifests, so that each copy in a rollup has its manifest among those read later.
    rolled_up = {one.key: one for index in indexes(storage).values() for one in rolled_records(storage, index)}
    seen = snapshot(storage)
    commits, compacted, unfinished = seen.commits, seen.compacted, seen.unfinished
    if not commits:
        raise no_table(storage)
    live = [commit for commit in newest(commits) if not commit.is_nothing]
    own = [file for file in rejects_files(live) if file.path.startswith(f"{REJECTS}/")]
    elsewhere = [file for file in rejects_files(live) if not file.path.startswith(f"{REJECTS}/")]
    in_table = list(table_files(live, compacted))
    named = [(storage, file) for file in chain(in_table, own)]
    if rejects is not None:
        named += [(rejects, file) for file in elsewhere]
    covered = coverage(live)
    return Verification(
        commits=len(live),
        files=len(named),
        size_bytes=sum(file.size_bytes for _, file in named),
        rows=sum(file.rows for file in in_table),
        rejected=sum(sum(commit.rejected.values()) for commit in live),
        filtered=sum(commit.rows_dropped for commit in live),
        left_out=sum(commit.left_out_in_read for commit in live),
        without_ranges=sum(not commit.ranges for commit in live),
        coverage=covered,
        unfinished=sorted(unfinished.intersection(listing)),
        unchecked=[] if rejects is not None else [file.path for file in elsewhere],
        findings=[
            *_check_files(storage, named),
            *(one for one in unnamed_files(listing, commits, compacted, unfinished) if _is_there(storage, one.where)),
            *chain.from_iterable(map(count_findings, live)),
            *chain.from_iterable(map(coverage_findings, covered)),
            *compaction_findings(commits, compacted),
            *missing_findings(live, rolled_up),
            *rollup_findings(commits, rolled_up),
        ],
        elsewhere=rejects_elsewhere(live),
    )


def _is_there(storage: Storage, path: str) -> bool:
    try:
        storage.reader(path).close()
    except FileNotFoundError:
        return False
    return True


def _check_files(table: Storage, named: Iterable[tuple[Storage, TableFile]]) -> Iterator[Finding]:
    with ThreadPoolExecutor(_PARALLEL_READS) as pool:
        for found in pool.map(lambda one: file_finding(table, *one), named):
            if found is not None:
                yield found
