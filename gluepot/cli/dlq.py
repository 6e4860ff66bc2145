"""`gluepot dlq list|show|replay|purge`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from awsglue.options import kafka_read_settings
from gluepot.cli.confirm import agreed
from gluepot.cli.output import Output
from gluepot.cli.output import show as show_rows
from gluepot.connectors.kafka.sender import KafkaSender
from gluepot.core.errors import ConfigError
from gluepot.dead_letters.folder import LetterFolder, open_folder
from gluepot.dead_letters.ledger import Ledger
from gluepot.dead_letters.letters import Wanted, read_letters
from gluepot.dead_letters.purge import purge as purge_letters
from gluepot.dead_letters.replay import replay as replay_letters
from gluepot.dead_letters.replay import topics_of
from gluepot.dead_letters.show import counts, letter_json, letters_text

app = App(name="dlq", help="Show dead letters (records that a job could not process), send them again, delete them.")

Rejects = Annotated[str | None, Parameter(help="The job's rejectsPath, if the rejected records are not below PATH.")]


@app.command(name="list")
def list_(path: str, *, rejects: Rejects = None, output: Output = "text") -> None:
    """Count dead letters by reason and batch.

    Args:
        path: a table, a checkpoint, or a folder of rejected records.
        rejects: see above.
        output: text for people; json for programs.
    """
    folder = _folder(path, rejects)
    found = counts(folder)
    show_rows([asdict(one) for one in found], output, "No dead letters.")
    if output == "text" and found:
        print(f"{sum(one.records for one in found):,} in all")


@app.command
def show(
    path: str,
    *,
    count: int = 10,
    reason: str | None = None,
    batch: int | None = None,
    rejects: Rejects = None,
    output: Output = "text",
) -> None:
    """Show dead letters, with their bytes escaped so that they cannot control the terminal.

    Args:
        path: a table, a checkpoint, or a folder of rejected records.
        count: how many to show, oldest first.
        reason: only those with this reason.
        batch: only those of this batch.
        rejects: see above.
        output: text for people; json for programs, bytes in base64.
    """
    letters = islice(read_letters(_folder(path, rejects), Wanted(reason, batch)), max(0, count))
    print(json.dumps(list(map(letter_json, letters))) if output == "json" else letters_text(letters))


@app.command
def replay(
    path: str,
    *,
    topic: str | None = None,
    bootstrap: str | None = None,
    connection: str | None = None,
    connections: Path | None = None,
    reason: str | None = None,
    batch: int | None = None,
    rejects: Rejects = None,
    output: Output = "text",
) -> None:
    """Send dead letters back to their topics, with their original bytes and the header gluepot-replayed-from.

    Each dead letter is sent once, even if you repeat the command, because a ledger next to the dead letters records the
    sent ones. If a replay crashes, the next one continues, and may send up to 100 dead letters twice. Do not run two
    replays to one topic at the same time.

    Args:
        path: a table, a checkpoint, or a folder of rejected records.
        topic: the topic for all dead letters, instead of their original topics.
        bootstrap: host:port of the brokers.
        connection: a connection of the connections file, with its security settings, instead of --bootstrap.
        connections: the connections file, if it is not in one of the usual places.
        reason: only dead letters with this reason.
        batch: only dead letters of this batch.
        rejects: see above.
        output: text for people; json for one object.
    """
    if (bootstrap is None) == (connection is None):
        raise ConfigError("Name the brokers with either --bootstrap or --connection.")
    named = {"bootstrap.servers": bootstrap} if bootstrap else {"connectionName": connection}
    folder, wanted = _folder(path, rejects), Wanted(reason, batch)
    targets = [topic] if topic else topics_of(read_letters(folder, wanted))
    if not targets:
        print(json.dumps({"topic": None, "sent": 0, "skipped": 0}) if output == "json" else "No dead letters.")
        return
    sender = KafkaSender(kafka_read_settings({**named, "topicName": ",".join(targets)}, connections))
    ledgers = {target: Ledger(folder.home, sender.cluster_of(target), target) for target in targets}
    sent = skipped = 0
    for target, ledger in ledgers.items():
        letters = (one for one in read_letters(folder, wanted) if topic or one.stream == target)
        done = replay_letters(letters, ledger, sender, target)
        sent, skipped = sent + done.sent, skipped + done.skipped
        if output == "text":
            print(f"{done.sent:,} dead letters sent to {target}; {done.skipped:,} were already sent.")
    if output == "json":
        print(json.dumps({"topic": topic, "sent": sent, "skipped": skipped}))


@app.command
def purge(
    path: str, *, batch: int | None = None, yes: bool = False, rejects: Rejects = None, output: Output = "text"
) -> None:
    """Permanently delete dead letters.

    Args:
        path: a table, a checkpoint, or a folder of rejected records.
        batch: only those of this batch.
        yes: do not ask for confirmation.
        rejects: see above.
        output: text for people; json for one object.
    """
    folder = _folder(path, rejects)
    if not agreed(f"Permanently delete the dead letters in {folder.storage.url}?", yes=yes, has_dry_run=False):
        print("Nothing was removed.", file=sys.stderr)
        return
    gone = purge_letters(folder, batch)
    if output == "json":
        print(json.dumps({"records": gone.records, "files": gone.files}))
    else:
        print(f"{gone.records:,} dead letters in {gone.files:,} files were deleted.")


def _folder(path: str, rejects: str | None) -> LetterFolder:
    folder = open_folder(path, rejects)
    for root, records in folder.elsewhere.items():
        print(
            f"note: {records:,} more rejected records of these batches are in {root}, because their rows came through"
            f" a DataFrame; pass that folder as PATH",
            file=sys.stderr,
        )
    if not folder.has_manifests and not all(file.is_counted for file in folder.files):
        print(
            "note: this folder has no manifests, so the list may include files that a crash left; to see only"
            " published records, pass the table as PATH and this folder as --rejects",
            file=sys.stderr,
        )
    return folder
