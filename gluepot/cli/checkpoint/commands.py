"""`gluepot checkpoint show|doctor|export|import|rewind`.

Exit codes: 0 done or sound, 2 usage, 3 faults remain (`doctor`), 4 a driver is running on the checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal

from cyclopts import App

from gluepot.cli.checkpoint.broker import resolved
from gluepot.cli.checkpoint.show import described, finding_lines, lines, plain
from gluepot.cli.confirm import agreed
from gluepot.cli.exit_codes import FINDINGS
from gluepot.commit import live
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.core.storage import Storage, open_storage
from gluepot.streaming.checkpoints import lease, moves, transfer
from gluepot.streaming.checkpoints.against_table import against_table
from gluepot.streaming.checkpoints.diagnosis import diagnose
from gluepot.streaming.checkpoints.findings import Finding, Nothing
from gluepot.streaming.checkpoints.names import lease_number
from gluepot.streaming.checkpoints.repair import repair as do_repairs
from gluepot.streaming.checkpoints.rewind import begin_anew, end_of, go_back
from gluepot.streaming.checkpoints.snapshot import Snapshot, read
from gluepot.streaming.checkpoints.table_ends import table_ends

Output = Literal["text", "json"]

app = App(
    name="checkpoint",
    help="Explain or repair a streaming query's checkpoint, move it, or make the query start from somewhere else.",
    help_epilogue="To start a new checkpoint at given offsets or at a time, no command is needed: give the source"
    " startingOffsets (earliest, latest or JSON) or startingTimestamp in its connection_options.",
)


@app.command
def show(location: str, /, *, output: Output = "text") -> None:
    """Explain every file of a checkpoint, and where the next run continues.

    Args:
        location: the checkpointLocation, a path or a URI.
        output: text for people; json for one object.
    """
    storage = open_storage(location)
    snapshot = _snapshot(storage)
    findings = diagnose(snapshot)
    unreadable = any(lease_number(one.file) is not None for one in findings)
    owner = None if unreadable else lease.holder(storage, SystemClock())
    about = described(snapshot, owner, findings)
    _say(output, about, lines(snapshot, about))


@app.command
def doctor(
    location: str,
    /,
    *,
    table: list[str] | None = None,
    repair: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    output: Output = "text",
) -> None:
    """Find what is wrong with a checkpoint, and repair it where no record can be lost or doubled by that.

    Exit code 0: the next run continues exactly. Exit code 3: it would not, and the output says what remains to be done.

    Args:
        location: the checkpointLocation, a path or a URI.
        table: a table that the query writes to; its manifests make more repairs possible. May be repeated.
        repair: do the safe repairs; a copy of each changed file is kept in gluepot/backup below the location.
        dry_run: with --repair: only show what would be done.
        yes: do not ask.
        output: text for people; json for one object.
    """
    storage = open_storage(location)
    findings = _examined(storage, table or ())
    backup = None
    mendable = [one for one in findings if not isinstance(one.repair, Nothing)]
    if repair and mendable and not dry_run and agreed(f"Mend {len(mendable)} files of {location}?", yes=yes):
        with lease.take(storage, SystemClock()):
            mendable = [one for one in _examined(storage, table or ()) if not isinstance(one.repair, Nothing)]
            backup = do_repairs(storage, mendable, SystemClock())
        findings = _examined(storage, table or ())
    done = [plain(one) for one in mendable] if backup else []
    left = [plain(one) for one in findings]
    about = {"location": storage.url, "findings": left, "repaired": done, "backup": backup}
    _say(
        output,
        about,
        (
            *(f"mended  {one['file']} {one['what']}; {one['then']}" for one in done),
            *([f"backup  {storage.url}/{backup}"] if backup else []),
            *(finding_lines(left) if left else [f"{storage.url} is sound"]),
        ),
    )
    if any(one.blocks for one in findings):
        raise SystemExit(FINDINGS)


@app.command(name="export")
def export(location: str, /, *, to: Path | None = None) -> None:
    """Write one JSON file from which a query can continue elsewhere: its id, newest offsets, newest commit and start.

    Args:
        location: the checkpointLocation, a path or a URI.
        to: the file; standard output unless given.
    """
    text = json.dumps(transfer.exported(read(open_storage(location))), indent=1)
    if to is None:
        print(text)
    else:
        to.write_text(text)


@app.command(name="import")
def import_(location: str, file: Path, /, *, dry_run: bool = False, yes: bool = False) -> None:
    """Make a checkpoint from an exported file, in an empty location.

    The query continues under its old id. Stop the old driver first, because two drivers would fence each other off.

    Args:
        location: the new checkpointLocation, a path or a URI.
        file: made by `gluepot checkpoint export`.
        dry_run: only check the file.
        yes: do not ask.
    """
    if not file.is_file():
        raise ConfigError(f"There is no file {file}; make one with `gluepot checkpoint export`.")
    files = transfer.files_of(file.read_bytes(), str(file))
    if dry_run or not agreed(f"Write {len(files)} files into {location}?", yes=yes):
        print(f"{file} contains {', '.join(files)}; nothing was written")
        return
    transfer.write_into(open_storage(location), files)
    print(f"{location} now contains {', '.join(files)}")


@app.command
def rewind(
    location: str,
    /,
    *,
    to_batch: int | None = None,
    to_offsets: str | None = None,
    to_timestamp: str | None = None,
    from_table: list[str] | None = None,
    ctx: str | None = None,
    drop_unfinished: bool = False,
    bootstrap: str | None = None,
    connection: str | None = None,
    connections: Path | None = None,
    topic: list[str] | None = None,
    dry_run: bool = False,
    yes: bool = False,
    output: Output = "text",
) -> None:
    """Make the next run start from somewhere else. Give one of --to-batch, --to-offsets, --to-timestamp, --from-table.

    All but --to-batch begin a new query: the old history moves to gluepot/backup below the location. A table refuses
    records that it already contains, unless forEachBatch has allowOverlap. For Kinesis, --to-offsets and
    --to-timestamp are not available.

    Args:
        location: the checkpointLocation, a path or a URI.
        to_batch: forget the batches after this one. The query stays the same, so a table that contains those batches
            refuses them if they now have other ranges. Meant for functions that write to sinks of their own.
        to_offsets: a JSON map from topic to partition to offset, such as {"clicks":{"0":23}}. A partition that is left
            out starts at its first record. With a broker also -2 for the first and -1 for the next record.
        to_timestamp: start at the first records of this time or later, such as 2026-01-31T12:00:00Z; needs a broker.
        from_table: start where the manifests of this table end; nothing is read twice and nothing is left out. May be
            repeated for a query with several tables.
        ctx: with --from-table: the transformation_ctx whose writes count.
        drop_unfinished: with --from-table: if a batch has begun and not ended, take back what it has written and read
            its records again. If the checkpoint is gone, this is the newest batch, if only some writes contain it.
        bootstrap: a broker, host:port, to look offsets up.
        connection: a connection of the connections file, instead of --bootstrap.
        connections: the connections file, if it is not in one of the usual places.
        topic: a topic to look up, if the checkpoint does not name it. May be repeated.
        dry_run: only show what would happen to each partition.
        yes: do not ask.
        output: text for people; json for one object.
    """
    chosen = [to_batch is not None, to_offsets is not None, to_timestamp is not None, bool(from_table)]
    if sum(chosen) != 1:
        raise ConfigError("Give exactly one of --to-batch, --to-offsets, --to-timestamp and --from-table.")
    storage = open_storage(location)
    clock = SystemClock()
    with _alone(storage, dry_run=dry_run) as alone:
        snapshot = read(storage)
        before = moves.standing(snapshot)
        ends = table_ends(storage, snapshot, from_table, ctx, drop_unfinished=drop_unfinished) if from_table else None
        if to_offsets is not None or to_timestamp is not None:
            moves.require_offsets(before, "--to-offsets" if to_timestamp is None else "--to-timestamp")
        options = {"connectionName": connection, "bootstrap.servers": bootstrap}
        broker = {name: value for name, value in options.items() if value}
        topics = topic or sorted({name for name, _ in before.spans})
        if to_batch is not None:
            after = end_of(snapshot, to_batch)
        elif ends is not None:
            after = ends.start
        elif to_timestamp is not None:
            after = resolved(broker, connections, topics, {"startingTimestamp": to_timestamp})
        elif broker:
            after = resolved(broker, connections, topics, {"startingOffsets": to_offsets})
        else:
            after = moves.to_offsets(to_offsets or "", before.stream_ids)
        effect = moves.moves(before, after)
        backup = None
        if alone is not None and agreed("\n".join([*map(str, effect), f"Rewind {location}?"]), yes=yes):
            if to_batch is None:
                backup = begin_anew(storage, snapshot, after, alone, clock, ends)
            else:
                alone.confirm()
                backup = go_back(storage, snapshot, to_batch, clock)
    _say(output, _rewound(storage, effect, backup), _rewound_lines(storage, effect, backup))


def _alone(storage: Storage, *, dry_run: bool) -> AbstractContextManager[lease.Lease | None]:
    """Take the checkpoint's lease for the change, so that no query starts meanwhile; refuse if a query is running."""
    return nullcontext() if dry_run else lease.take(storage, SystemClock())


def _snapshot(storage: Storage) -> Snapshot:
    snapshot = read(storage)
    if not snapshot.names:
        raise ConfigError(
            f"{storage.url} is empty or does not exist; give the checkpointLocation of a query that has been started."
        )
    if not any(name.kind in {"metadata", "offsets", "commits", "ours"} for name in snapshot.names):
        raise ConfigError(
            f"{storage.url} is no checkpoint: it has neither metadata nor offsets nor commits; give the"
            " checkpointLocation of the script."
        )
    return snapshot


def _examined(storage: Storage, tables: Sequence[str]) -> list[Finding]:
    snapshot = _snapshot(storage)
    findings = diagnose(snapshot)
    for table in tables:
        target = open_storage(table)
        findings = against_table(snapshot, findings, list(live(target)), target.url)
    return sorted(findings, key=lambda one: not one.blocks)


def _rewound(storage: Storage, effect: Sequence[moves.Move], backup: str | None) -> dict[str, Any]:
    return {
        "location": storage.url,
        "done": backup is not None,
        "backup": backup,
        "partitions": [
            {
                "topic": one.topic,
                "partition": one.partition,
                "before": one.before,
                "after": one.after,
                "read_again": one.reread,
                "skipped": one.skipped,
            }
            for one in effect
        ],
    }


def _rewound_lines(storage: Storage, effect: Sequence[moves.Move], backup: str | None) -> list[str]:
    end = f"the old state is in {storage.url}/{backup}" if backup else "nothing was changed"
    return [*map(str, effect), end]


def _say(output: Output, about: dict[str, Any], text: Any) -> None:
    print(json.dumps(about, indent=1) if output == "json" else "\n".join(text))
