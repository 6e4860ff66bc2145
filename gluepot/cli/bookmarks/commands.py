"""The commands. Those that change bookmarks take `--dry-run`; `reset` and `rewind` ask first, or need `--yes`."""

from __future__ import annotations

import getpass
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from gluepot.bookmarks.ledger import Ledger, Run, ledger_url, open_ledger
from gluepot.bookmarks.ledger import edit as edits
from gluepot.bookmarks.ledger.portable import export_job, import_job
from gluepot.cli.bookmarks import streams
from gluepot.cli.bookmarks.explain import files_between, kind_read, next_plan, next_rows, summary
from gluepot.cli.confirm import agreed
from gluepot.cli.output import Output, Row, show, time_of
from gluepot.connectors.files.source.versions import KIND
from gluepot.connectors.jdbc import state as jdbc
from gluepot.connectors.jdbc.plan import JdbcPlan
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.core.storage import open_storage
from gluepot.engine.account import Account
from gluepot.streaming.checkpoints.moves import standing
from gluepot.streaming.checkpoints.snapshot import read
from gluepot.streaming.query.ledger_positions import StreamMark

app = App(name="bookmarks", help="What jobs have read, what they will read next, and how to change that.")
jobs_app = App(name="jobs", help="The runs of jobs with bookmarks.")


@app.command(name="list")
def list_jobs(*, output: Output = "text") -> None:
    """List the jobs that have bookmarks.

    Args:
        output: text for people; json for a list of objects.
    """
    with _ledger() as ledger:
        rows: list[Row] = [
            {
                "job": job.name,
                "state": job.state,
                "next_run": job.run,
                "attempt": job.attempt,
                "version": job.version,
                "paused": job.paused,
                "contexts": ledger.contexts(job.name, job.state),
            }
            for job in ledger.jobs()
        ]
    show(rows, output, "No job has bookmarks; run one with --job-bookmark-option job-bookmark-enable.")


@app.command
def get(job: str, *, run_id: str | None = None, output: Output = "text") -> None:
    """Show a job's bookmarks.

    Args:
        job: name.
        run_id: show the bookmarks as they were after this run; as they are now if none is given.
        output: text for people; json for the fields of Glue's GetJobBookmark.
    """
    with _ledger() as ledger:
        entry = ledger.job(job)
        at = entry.state if run_id is None else _state_after(ledger.run(job, run_id))
        found = [asdict(summary(ctx, ledger.state(job, ctx, at))) for ctx in ledger.contexts(job, at)]
        done = [run.run_id for run in ledger.runs(job) if run.state is not None and run.state <= at]
    if output == "text":
        show(found, output, f"Job {job} has read nothing with a bookmark.")
        return
    entry_json = {
        "JobName": job,
        "Version": entry.version,
        "Run": entry.run,
        "Attempt": entry.attempt,
        "PreviousRunId": done[1] if len(done) > 1 else None,
        "RunId": done[0] if done else None,
        "JobBookmark": json.dumps({one["ctx"]: one for one in found}, ensure_ascii=False),
    }
    print(json.dumps(entry_json, ensure_ascii=False))


@app.command
def explain(job: str, *, ctx: str, limit: int = 100, output: Output = "text") -> None:
    """Show which files, rows or offsets the next run would read, and why it would leave out the other files.

    Args:
        job: name.
        ctx: `transformation_ctx` of the source.
        limit: most files to show; the counts cover all files.
        output: text for people; json for one object with counts and files.
    """
    with _ledger() as ledger:
        if streams.stream_contexts(ledger, job, ctx):
            mark = StreamMark.from_body(ledger.state(job, ctx, ledger.job(job).state)[-1])
            show(_next_offsets(mark), output, f"{mark.checkpoint} has no batch yet.")
            return
        if kind_read(ledger, job, ctx) == jdbc.KIND:
            _explain_rows(next_rows(ledger, job, ctx), output)
            return
        plan = next_plan(ledger, job, ctx, SystemClock())
    counts = {verdict.value: count for verdict, count in plan.counts.items()}
    in_order = sorted(plan.judged, key=lambda one: (not one[1].is_read, one[0].folder, one[0].name))
    files: list[Row] = [
        {
            "file": file.url,
            "reads": verdict.is_read,
            "reason": verdict.value,
            "size_bytes": file.size_bytes,
            "modified": time_of(file.mtime_us // 1000),
        }
        for file, verdict in in_order[:limit]
    ]
    if output == "json":
        print(json.dumps({"counts": counts, "files": files}, ensure_ascii=False))
        return
    show(files, output, "There are no files.")
    print(
        f"The next run reads {len(plan.files)} of {len(plan.judged)} files, {plan.size_bytes} bytes: {_counted(counts)}"
    )


@app.command
def history(job: str, *, ctx: str | None = None, output: Output = "text") -> None:
    """List every version of a job's bookmarks, newest first, and who changed them by hand.

    Args:
        job: name.
        ctx: list only the bookmarks of this source.
        output: text for people; json for a list of objects.
    """
    with _ledger() as ledger:
        entry = ledger.job(job)
        contexts = [ctx] if ctx else ledger.contexts(job, entry.state)
        actors = {entry.after: entry.actor for entry in ledger.audit(job)}
        rows: list[Row] = [
            {
                "state": change.state,
                "ctx": name,
                "cause": change.cause,
                "by": change.run_id or actors.get(change.state),
                "at": time_of(change.at_ms),
                "extends": change.parent,
                "files": summary(name, [change.body]).files if change.body else 0,
                "position": summary(name, [change.body]).position if change.body else "",
            }
            for name in contexts
            for change in ledger.history(job, name)
        ]
    rows.sort(key=lambda row: (-row["state"], row["ctx"]))
    show(rows, output, f"Job {job} has no bookmarks.")


@app.command
def diff(
    job: str,
    *,
    ctx: str,
    from_state: Annotated[int, Parameter(name="--from")],
    to_state: Annotated[int | None, Parameter(name="--to")] = None,
    output: Output = "text",
) -> None:
    """List what a job read between two states (numbered by `history`): its files, or its start and end positions.

    Args:
        job: name.
        ctx: `transformation_ctx` of the source.
        from_state: number of the earlier state; 0 for the very beginning.
        to_state: number of the later state; the current one if none is given.
        output: text for people; json for a list of objects.
    """
    with _ledger() as ledger:
        upto = ledger.job(job).state if to_state is None else to_state
        if kind_read(ledger, job, ctx) != KIND:
            ends = [summary(ctx, ledger.state(job, ctx, at)).position for at in (from_state, upto)]
            moved = [{"after": ends[0], "upto": ends[1]}] if ends[0] != ends[1] else []
            show(moved, output, f"Nothing was read between states {from_state} and {upto}.")
            return
        files = files_between(ledger, job, ctx, from_state, upto)
    rows: list[Row] = [
        {"file": file.url, "size_bytes": file.size_bytes, "modified": time_of(file.mtime_us // 1000), "etag": file.etag}
        for file in files
    ]
    show(rows, output, f"Nothing was read between states {from_state} and {upto}.")


@app.command
def reset(job: str, *, ctx: str | None = None, yes: bool = False, dry_run: bool = False) -> None:
    """Forget what a job has read, so that its next run reads everything again. Targets are not cleaned.

    Args:
        job: name.
        ctx: reset only the bookmark of this source.
        yes: do not ask.
        dry_run: say what would happen and do nothing.
    """
    with _ledger() as ledger:
        if of_streams := streams.stream_contexts(ledger, job, ctx):
            raise ConfigError(
                f"{', '.join(of_streams)} of job {job} is a stream and begins where its checkpoint says; use"
                " `gluepot checkpoint rewind`, or name another --ctx."
            )
        if not agreed(f"Reset the bookmarks of {job}{f', ctx {ctx}' if ctx else ''}?", yes=yes or dry_run):
            raise SystemExit(1)
        _say(edits.reset(ledger, job, _actor(), ctx, keep=not dry_run), dry_run=dry_run)


@app.command
def rewind(
    job: str,
    *,
    to_run: str | None = None,
    to_time: str | None = None,
    ctx: str | None = None,
    yes: bool = False,
    dry_run: bool = False,
) -> None:
    """Restore an earlier state of a job's bookmarks; the next run reads all that came since. Targets are not cleaned.

    A stream becomes a new query that begins at the old position. A table that already contains the records refuses
    them, unless forEachBatch has allowOverlap.

    Args:
        job: name.
        to_run: restore the state after the run with this id, as gluepot jobs runs shows it.
        to_time: restore the state at this time, ISO such as 2026-01-31T12:00 (UTC unless it says otherwise).
        ctx: rewind only the bookmark of this source.
        yes: do not ask.
        dry_run: say what would happen and do nothing.
    """
    if (to_run is None) == (to_time is None):
        raise ConfigError("rewind needs either --to-run or --to-time.")
    with _ledger() as ledger:
        target = _state_after(ledger.run(job, to_run)) if to_run else _state_at(ledger, job, str(to_time))
        planned = streams.planned_moves(ledger, job, target, ctx)
        for line in (line for one in planned for line in one.lines()):
            print(line)
        if not agreed(f"Rewind the bookmarks of {job} to state {target}?", yes=yes or dry_run):
            raise SystemExit(1)
        if not dry_run:
            streams.move(planned, SystemClock())
        _say(edits.rewind(ledger, job, _actor(), target, ctx, keep=not dry_run), dry_run=dry_run)


@app.command
def pause(job: str, *, resume: bool = False, dry_run: bool = False) -> None:
    """Pause a job's bookmarks: its next runs use them but do not change them.

    Args:
        job: name.
        resume: end the pause.
        dry_run: say what would happen and do nothing.
    """
    with _ledger() as ledger:
        edits.pause(ledger, job, _actor(), paused=not resume, keep=not dry_run)
    would = "would be" if dry_run else "are"
    print(f"The bookmarks of {job} {would} {'saved again' if resume else 'paused'}.")


@app.command
def fork(
    job: str, new_job: str, *, checkpoint: str | None = None, ctx: str | None = None, dry_run: bool = False
) -> None:
    """Copy the current bookmarks of a job to a new job.

    Args:
        job: name of the job to copy from.
        new_job: name of the new job.
        checkpoint: checkpointLocation of the new job's stream, which begins where the old job's stream stands.
        ctx: which stream of the old job, if it has several.
        dry_run: say what would happen and do nothing.
    """
    with _ledger() as ledger:
        if checkpoint and not dry_run:
            streams.begin_elsewhere(_only_stream(ledger, job, ctx), checkpoint)
        _say(edits.fork(ledger, job, _actor(), new_job, keep=not dry_run), dry_run=dry_run)


@app.command(name="export")
def export_(job: str, file: Path | None = None) -> None:
    """Write a job with all its bookmarks and runs as JSON, for another ledger.

    Args:
        job: name.
        file: the file to write; standard output if none is given.
    """
    with _ledger() as ledger:
        text = export_job(ledger, job)
    if file:
        file.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


@app.command(name="import")
def import_(file: Path, *, dry_run: bool = False) -> None:
    """Import a job that `export` wrote; its next run continues from the exported bookmarks.

    Args:
        file: the export.
        dry_run: check it and do nothing.
    """
    if not file.is_file():
        raise ConfigError(f"There is no file {file}; make one with `gluepot bookmarks export JOB FILE`.")
    with _ledger() as ledger:
        text = file.read_text(encoding="utf-8")
        _say(import_job(ledger, text, _actor(), keep=not dry_run), dry_run=dry_run)


@jobs_app.command
def runs(job: str | None = None, *, limit: int = 20, output: Output = "text") -> None:
    """List runs, newest first.

    Args:
        job: list only the runs of this job.
        limit: most runs to list.
        output: text for people; json for a list of objects.
    """
    with _ledger() as ledger:
        rows: list[Row] = [
            {
                "job": run.job,
                "run": run.number,
                "attempt": run.attempt,
                "run_id": run.run_id,
                "option": run.option,
                "status": run.status,
                "started": time_of(run.started_ms),
                "ended": time_of(run.ended_ms),
                "from_state": run.base,
                "to_state": run.state,
                **_of_account(run.account),
                "rows_out": sum(write.rows for write in ledger.writes(run)),
                "error": run.error,
            }
            for run in ledger.runs(job, limit)
        ]
    if output == "text":
        rows = [{name: value for name, value in row.items() if name != "account"} for row in rows]
    show(rows, output, "There are no runs.")


def _of_account(text: str | None) -> Row:
    """Return the columns that tell of the account of a run, see `gluepot.engine.account`."""
    if text is None:
        return {"read": None, "rejected": None, "account": None}
    account = Account.of_plain(json.loads(text))
    kept = account.read.rejected + account.writes.refused
    return {"read": account.read.records, "rejected": kept, "account": account.to_plain()}


@contextmanager
def _ledger() -> Iterator[Ledger]:
    ledger = open_ledger(ledger_url(os.environ), SystemClock())
    try:
        yield ledger
    finally:
        ledger.close()


def _only_stream(ledger: Ledger, job: str, ctx: str | None) -> StreamMark:
    found = streams.stream_contexts(ledger, job, ctx)
    if len(found) != 1:
        raise ConfigError(f"Job {job} has the streams {', '.join(found) or 'none'}; name one with --ctx.")
    return StreamMark.from_body(ledger.state(job, found[0], ledger.job(job).state)[-1])


def _next_offsets(mark: StreamMark) -> list[Row]:
    mirrored = streams.place_of(mark).ends()
    now = standing(read(open_storage(mark.checkpoint))).ends()
    return [
        {"topic": topic, "partition": partition, "next_offset": end, "in_ledger": mirrored.get((topic, partition))}
        for (topic, partition), end in sorted(now.items())
    ]


def _actor() -> str:
    return f"{getpass.getuser()}@{socket.gethostname()}"


def _state_after(run: Run) -> int:
    if run.state is None:
        raise ConfigError(f"Run {run.run_id!r} of job {run.job!r} saved no bookmarks; choose one that did.")
    return run.state


def _state_at(ledger: Ledger, job: str, text: str) -> int:
    try:
        given = datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(f"--to-time is {text!r}; write it as 2026-01-31T12:00.") from error
    moment = given if given.tzinfo else given.replace(tzinfo=UTC)
    at_ms = moment.timestamp() * 1000
    contexts = ledger.contexts(job, ledger.job(job).state)
    changes = [change for ctx in contexts for change in ledger.history(job, ctx)]
    return max((change.state for change in changes if change.at_ms <= at_ms), default=0)


def _say(done: edits.Edited, *, dry_run: bool) -> None:
    verb = "would go" if dry_run else "went"
    print(f"Job {done.job} {verb} from state {done.before} to state {done.after}.")


def _explain_rows(plan: JdbcPlan, output: Output) -> None:
    counts = {"new": plan.rows, "late": plan.late_rows - plan.reread_rows, "read again": plan.reread_rows}
    after, upto = (", ".join(row) if row else None for row in (plan.after, plan.upto))
    if output == "json":
        print(json.dumps({"counts": counts, "table": plan.relation, "after": after, "upto": upto}, ensure_ascii=False))
        return
    by = ", ".join(plan.key.names)
    print(f"The next run reads {plan.relation} in the order of {by}, after {after or 'its beginning'} up to {upto}.")
    print(f"Rows: {_counted(counts)}")


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing there"
