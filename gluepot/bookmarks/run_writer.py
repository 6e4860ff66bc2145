"""The writes of a process outside of batch functions: a run counts its writes as a batch does."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from pyspark.sql import DataFrame

from gluepot import commit
from gluepot.bookmarks import jobrun
from gluepot.bookmarks.ledger import LedgerWrite
from gluepot.bookmarks.run_journal import RunJournal
from gluepot.connectors.values import CommitKey, Manifest
from gluepot.core.private import make_private_folder
from gluepot.core.statedir import state_root
from gluepot.engine.account import Account
from gluepot.engine.lake_output import LakeAppend, takes_back
from gluepot.engine.readings import READINGS
from gluepot.engine.rejects import Rejects
from gluepot.engine.write_totals import Output, Rejected
from gluepot.engine.writer import Given, KnownTargets, TableWriter, Writing

if TYPE_CHECKING:
    from gluepot.bookmarks.jobrun import Bookmarks, JobRun
    from gluepot.connectors.lake.tables import LakeTable
    from gluepot.quality.results import Checked


class RunWriter(TableWriter):
    """The writes of one run. With bookmarks, it also notes for the ledger what was published."""

    # A script may remove the folder of a table between two writes. It makes few writes, so a request for each is cheap.
    looks_again = True

    @property
    def scopes(self) -> Sequence[str]:
        """The scopes that end with the batch or run."""
        return (self.scope, *_scopes())

    def _append_rows(
        self,
        frame: DataFrame,
        table: LakeTable,
        options: Mapping[str, Any],
        planned: Manifest,
        ctx: str,
    ) -> None:
        if not planned.token:
            table.append(frame, None, options)  # nothing repeats this run's append, so the table needs no mark
        else:
            # A run plans its reads one after another, so that an append of a retry may know of more reads than the one
            # before it. The rows tell whether they are the same.
            LakeAppend(frame, table, options, planned, ctx, "", self.targets.tables).run()

    def _published(self, key: CommitKey, target: str, rows: int, files: int) -> None:
        if (run := jobrun.current()) and run.bookmarks:
            run.bookmarks.wrote(LedgerWrite(key.ctx, target, rows, files))


class RunWriters:
    """The writers of a process: one for each run with bookmarks, and one for all writes without bookmarks."""

    def __init__(self) -> None:
        self._plain: RunWriter | None = None
        self._of_runs: dict[str, RunWriter] = {}
        self._beginning = Lock()

    def current(self) -> RunWriter:
        """Return the writer of the current run, or the writer without bookmarks if they are off or paused."""
        run = jobrun.current()
        marks = run.bookmarks if run else None
        if run is None or marks is None or not marks.run.saves:
            with self._beginning:
                if self._plain is None:
                    self._plain = _without_bookmarks(run)
                return self._plain
        name = f"{marks.run.job.uid} {marks.run.token}"
        with self._beginning:
            writer = self._of_runs.get(name)
            if writer is None:
                for earlier in self._of_runs.values():
                    if (earlier.by.query_id, earlier.by.batch_id) == (marks.run.job.uid, marks.run.job.run):
                        earlier.rejects.begin_attempt()  # this attempt counts what the run has rejected
                writer = self._of_runs[name] = _begin(run, marks)
        writer.given = Given(digest=marks.input_digest)
        return writer

    def finish(self, *, is_strict: bool = False) -> None:
        """Do what had to wait until all writes of the process were made; see `TableWriter.finish`."""
        if any(READINGS.unkept(scope) or READINGS.nothing_found(scope) for scope in _scopes()):
            self.current()  # the script may not have written anything
        for one in self._all():
            one.finish(is_strict=is_strict)

    def outputs(self) -> Sequence[Output]:
        """Return the outputs of all writes, without records that were sent to streams."""
        return [output for one in self._all() for output in one.totals.outputs]

    def checks(self) -> Sequence[Checked]:
        """Return what all checks of data quality found."""
        return [check for one in self._all() for check in one.totals.checks.values()]

    def account(self) -> Account:
        """Return what was read and written outside of streams."""
        scopes = dict.fromkeys([jobrun.SCRIPT, *(one.scope for one in self._all())])
        read = sum((Account(READINGS.of_scope(one)) for one in scopes), Account())
        return sum((one.totals.account for one in self._all()), read)

    def rejected(self) -> Rejected:
        """Return what all writes have rejected, and where these records are."""
        return sum((Rejected.of(one.totals) for one in self._all()), Rejected())

    def nulled(self) -> int:
        """Return how many values became null because they are not of the declared type."""
        return sum(sum(one.totals.misfits.values()) for one in self._all())

    def _all(self) -> Sequence[RunWriter]:
        return [*([] if self._plain is None else [self._plain]), *self._of_runs.values()]


def _scopes() -> Sequence[str]:
    """Return the scopes of the reads of the script."""
    return (jobrun.SCRIPT, jobrun.scope())


def _without_bookmarks(run: JobRun | None) -> RunWriter:
    by = Writing(uuid4().hex, 0)
    return RunWriter(by, rejects=Rejects(_rejects_root(run), by.query_id, by.batch_id))


def _rejects_root(run: JobRun | None) -> str:
    """Return the folder of rejected records that no table keeps: below `--TempDir`, else in the state folder."""
    if run is not None and run.temp_dir:
        return f"{run.temp_dir.rstrip('/')}/gluepot/rejects/{quote(run.name, safe='')}"
    folder = state_root(os.environ) / "rejects"
    with suppress(OSError):  # a place that cannot be written to matters only if a record is rejected
        make_private_folder(folder)
    return str(folder / quote(run.name if run else "script", safe=""))


def _begin(run: JobRun, marks: Bookmarks) -> RunWriter:
    """Return the writer of a run. Its commit keys are the same for all attempts, so each replaces the one before."""
    job, token = marks.run.job, marks.run.token
    writes = commit.QueryWrites(job.uid, token, RunJournal(marks.ledger, marks.run))
    takes_back(writes, token)
    writes.begin_attempt(job.run)
    marks.before_commit(writes.settle)
    rejects = Rejects(_rejects_root(run), job.uid, job.run)
    writer = RunWriter(Writing(job.uid, job.run, token), KnownTargets(writes), rejects=rejects)
    marks.account_of_writes(lambda: writer.totals.account)
    return writer


# The writers of this process.
WRITERS = RunWriters()
