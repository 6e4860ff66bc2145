"""Real restarts on a checkpoint that somebody damaged: zero difference, or a refusal that names file and remedy.

One job writes 60 small batches. Each test takes a copy of its table and checkpoint, damages the checkpoint and starts the
job again, with more records waiting. If that is refused, the remedy of the sentence is followed. In the end the table
holds what the producer sent, compared as multisets, read by DuckDB.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kafka import KafkaProducer

from gluepot.cli.main import main
from gluepot.commit import live
from gluepot.core.errors import CheckpointError
from gluepot.core.storage import open_storage
from gluepot.servers.topics import create_topic
from gluepot.streaming.checkpoints.moves import from_records
from tests.integration.conftest import Job, Topic

BATCHES = 60
FIRST, MORE = 2 * BATCHES, 10


@dataclass(frozen=True)
class Ran:
    """A job that has run, to be copied."""

    topic: Topic
    folder: Path
    sent: list[tuple[int]]

    def options(self, **more: Any) -> dict[str, Any]:
        return self.topic.options(maxOffsetsPerTrigger=2, **more)


@pytest.fixture(scope="module")
def ran(kafka: str, glue_context: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    name = f"t-{uuid4().hex[:8]}"
    create_topic(kafka, name, 2)
    producer = KafkaProducer(bootstrap_servers=kafka, acks="all")
    topic = Topic(kafka, name, producer)
    folder = tmp_path_factory.mktemp("ran")
    topic.send_json(*({"id": n} for n in range(FIRST)))
    Job(glue_context, folder).drain(topic.options(maxOffsetsPerTrigger=2))
    topic.send_json(*({"id": n} for n in range(FIRST, FIRST + MORE)))
    yield Ran(topic, folder, [(n,) for n in range(FIRST + MORE)])
    producer.close()


@pytest.fixture
def copy(ran: Ran, job: Job) -> Job:
    shutil.copytree(ran.folder / "table", job.table)
    shutil.copytree(ran.folder / "checkpoint", job.checkpoint)
    assert (job.checkpoint / "commits" / f"{BATCHES - 1}").exists()
    assert not (job.checkpoint / "commits" / f"{BATCHES}").exists()
    return job


def delete(*keys: str) -> Callable[[Path], None]:
    def edit(checkpoint: Path) -> None:
        for key in keys:
            (checkpoint / key).unlink()

    return edit


def cut(key: str) -> Callable[[Path], None]:
    def edit(checkpoint: Path) -> None:
        data = (checkpoint / key).read_bytes()
        (checkpoint / key).write_bytes(data[: len(data) // 2])

    return edit


def flip(key: str) -> Callable[[Path], None]:
    def edit(checkpoint: Path) -> None:
        data = bytearray((checkpoint / key).read_bytes())
        digit = max(n for n, byte in enumerate(data) if chr(byte).isdigit())
        data[digit] ^= 1
        (checkpoint / key).write_bytes(data)

    return edit


def copied(source: str, target: str) -> Callable[[Path], None]:
    def edit(checkpoint: Path) -> None:
        shutil.copy(checkpoint / source, checkpoint / target)

    return edit


def older(checkpoint: Path) -> None:
    """The folder as it was 50 batches before."""
    for log in ("offsets", "commits"):
        for path in (checkpoint / log).iterdir():
            if int(path.name.strip(".").removesuffix(".crc")) >= BATCHES - 50:
                path.unlink()


def follow_the_remedy(job: Job) -> None:
    """Mend what can be mended with the table's help; if faults stay, start over from the table."""
    if command("doctor", job.checkpoint, "--table", job.table, "--repair", "--yes"):
        assert command("rewind", job.checkpoint, "--from-table", job.table, "--yes") == 0


def command(*tokens: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["checkpoint", *map(str, tokens)])
    return int(ended.value.code or 0)


EDITS: dict[str, tuple[Callable[[Path], None], str | None]] = {
    "commits/N deleted": (delete("commits/59"), None),
    "offsets/N and commits/N deleted": (delete("offsets/59", "commits/59"), None),
    "old entries damaged": (lambda at: [one(at) for one in (cut("offsets/20"), flip("commits/30"))], None),
    "whole folder lost": (shutil.rmtree, r"table .*already contains offsets 0 to "),
    "50 batches old": (older, r"older than the table|as part of batch 59"),
    "offsets/N cut": (cut("offsets/59"), r"offsets/59 is cut off"),
    "offsets/N flipped": (flip("offsets/59"), r"offsets/59 was changed"),
    "offsets/N-1 deleted": (delete("offsets/58"), r"offsets/58 is missing"),
    "offsets/5 copied to N+1": (copied("offsets/5", "offsets/60"), r"offsets/60 is a copy of offsets/5"),
    "commits/N cut": (cut("commits/59"), None),
    "commits/N copied to N+1": (copied("commits/59", "commits/60"), r"commits/60 says that batch 60 is done"),
    "metadata deleted": (delete("metadata"), r"metadata is missing"),
}


def refusal(job: Job, options: dict[str, Any]) -> str | None:
    """Start the job; return the sentence if it is refused, None when it has caught up."""
    try:
        job.drain(options)
    except CheckpointError as refused:
        return str(refused)
    return None


# With a limit the batch may be cut in another way, by what waits in each partition now; then it is refused.
CUT_ANEW = {"offsets/N and commits/N deleted"}


@pytest.mark.parametrize("edit", EDITS)
def test_a_restart_is_exact_or_refused_with_file_and_remedy(ran, copy, edit):
    damage, expected = EDITS[edit]
    damage(copy.checkpoint)
    before = copy.rows("id")

    sentence = refusal(copy, ran.options())
    if sentence is not None:
        assert re.search(expected or "contains offsets .* as part of batch 59", sentence)
        assert f"gluepot checkpoint {'rewind' if 'The table' in sentence else ''}" in sentence
        assert copy.rows("id") == before
        follow_the_remedy(copy)
        assert refusal(copy, ran.options()) is None

    assert (sentence is None) == (expected is None) or edit in CUT_ANEW
    assert copy.rows("id") == sorted(ran.sent, key=repr)


def test_a_new_checkpoint_that_starts_behind_the_table_is_refused(ran, copy):
    shutil.rmtree(copy.checkpoint)
    table = from_records(live(open_storage(str(copy.table))), "table", None)
    behind = {str(partition): end + 2 for (_, partition), end in table.ends().items()}

    sentence = refusal(copy, ran.options(startingOffsets=json.dumps({ran.topic.name: behind})))

    assert re.search(
        r"ends at offset \d+ of .* starts at \d+: the records in between would never be written", sentence or ""
    )


def test_consent_lets_a_table_hold_records_twice(ran, copy):
    shutil.rmtree(copy.checkpoint)
    copy.drain(ran.topic.options(), allowOverlap="true")
    assert copy.rows("count(*), count(DISTINCT id)") == [(2 * FIRST + MORE, FIRST + MORE)]


def test_an_exported_checkpoint_goes_on_elsewhere(ran, copy, tmp_path):
    assert command("export", copy.checkpoint, "--to", tmp_path / "export.json") == 0
    shutil.rmtree(copy.checkpoint)
    assert command("import", copy.checkpoint, tmp_path / "export.json", "--yes") == 0
    copy.drain(ran.options())
    assert copy.rows("id") == sorted(ran.sent, key=repr)


def test_a_rewind_to_a_time_reads_from_there(ran, copy):
    shutil.rmtree(copy.table)
    first = ["--to-timestamp", "2000-01-01T00:00:00Z", "--bootstrap", ran.topic.bootstrap]
    assert command("rewind", copy.checkpoint, *first, "--yes") == 0
    copy.drain(ran.topic.options(startingOffsets="latest"))
    assert copy.rows("id") == sorted(ran.sent, key=repr)
