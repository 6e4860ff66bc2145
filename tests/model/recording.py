"""Records what a storage carries out for the commit code, so that the model of the protocol can check it.

    log = []
    table = RecordingStorage(MemoryStorage(), log, driver="first")   # one for each driver, on the same storage and log
    ...
    accepted(build(), joined({"what happened": log}))

Put it next to the storage itself, behind whatever delays or loses requests: a log has one entry for each request that
changes something, in the order in which the storage carried them out. Reads are left out, because they change nothing.

Each entry is a JSON object:

    action      staged, staged_removed, staged_moved (renamed), staged_copied, staged_missed (there was nothing to copy),
                intent_created, intent_deleted, manifest_created, manifest_exists, manifest_put (no right version does that),
                file_removed, state_created, state_exists, state_deleted (the journal in the checkpoint),
                compaction_intent_put, compaction_intent_deleted, compaction_created, compaction_exists (purges, too)
    driver      who sent the request; a driver keeps one token
    storage     url of the storage
    query, write, generation, number, token
                as they are in the names of manifests, intents and states, and in their text
    number, owner, replaced, files
                of a compaction, as in its text
    staged, files
                the files, each with its path, the generation and the token in its name, and the CRC-32 of its bytes
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gluepot.commit.compaction import Compaction
from gluepot.commit.intent import Intent
from gluepot.commit.journal import FOLDER as JOURNAL
from gluepot.commit.record import CommitRecord
from gluepot.connectors.files.sink.layout import (
    COMMITS,
    COMPACTION_INTENTS,
    HOME,
    INTENTS,
    STAGING,
    is_compaction,
    token_of_staged,
)
from gluepot.core.storage import FileWriter, Storage
from gluepot.core.storage.port import Stretch

FOLDER = Path(__file__).parent
_REPOSITORY = FOLDER.parent.parent
_MARKS = re.compile(r"(?:-g(\d+))?(?:-d([0-9a-z]+))?\.[^/]*$")

Entry = dict[str, Any]


def build() -> Path:
    """Compile the model with cargo, which fetches what it needs the first time; return the program."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or _REPOSITORY / ".tools/commit-model")
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    subprocess.run(command, cwd=FOLDER, env=environment, check=True)
    return target / "release/commit-model"


def accepted(program: Path, entries: Iterable[Entry]) -> tuple[bool, str]:
    """Return whether the model allows all of some logs, and what it says of them.

    Args:
        program: the model, see `build`.
        entries: of the logs, one after the other, each after a line of its own that begins it, see `begin`.
    """
    lines = map(json.dumps, entries)
    done = subprocess.run([program, "accept"], input="\n".join(lines), capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.returncode == 0, done.stdout


def begin(name: str) -> Entry:
    """Return the line that begins a log."""
    return {"action": "begin", "name": name}


def joined(logs: Mapping[str, Sequence[Entry]]) -> Iterator[Entry]:
    """Yield logs, one after the other."""
    for name, log in logs.items():
        yield begin(name)
        yield from log


@dataclass
class Notes:
    """Notes what changes in one storage, one method for each kind of change; what the model does not know is left out.

    Args:
        log: gets the entries.
        driver: a name of the driver that sends the requests.
        storage: url of the storage.
    """

    log: list[Entry]
    driver: str
    storage: str

    def put(self, key: str, data: bytes) -> None:
        """A file was written, whether or not there was one of that name."""
        if key.startswith(f"{COMPACTION_INTENTS}/"):
            self._note("compaction_intent_put", **_of_compaction(data))
        elif key.startswith(f"{COMMITS}/"):
            self._note("manifest_put", **_of_manifest(key, data))
        elif key.startswith(f"{STAGING}/"):
            self.staged(key, zlib.crc32(data))

    def staged(self, key: str, crc32: int) -> None:
        """A task has written a file where no reader looks."""
        self._note("staged", staged=[{**_staged(key), "crc32": crc32}])

    def created(self, key: str, data: bytes, *, is_new: bool) -> None:
        """A file was created, or was there already."""
        outcome = "created" if is_new else "exists"
        if key.startswith(f"{INTENTS}/") and is_new:
            intent = Intent.from_bytes(data)
            self._note("intent_created", **_of_intent(key), files=[_file(path) for _, path in intent.files])
        elif key.startswith(f"{COMMITS}/"):
            self._note(f"manifest_{outcome}", **_of_manifest(key, data))
        elif is_compaction(key):
            self._note(f"compaction_{outcome}", **_of_compaction(data))
        elif key.startswith(f"{JOURNAL}/"):
            self._note(f"state_{outcome}", number=_number(key), token=json.loads(data)["token"])

    def moved(self, source: str, target: str, *, action: str = "staged_moved") -> None:
        """A file was renamed, or copied, or was to be and is not there; `action` says which."""
        self._note(action, staged=[_staged(source)], files=[_file(target)])

    def deleted(self, key: str) -> None:
        """A file was removed, if it was there."""
        if key.startswith(f"{STAGING}/"):
            self._note("staged_removed", staged=[_staged(key)])
        elif key.startswith(f"{INTENTS}/"):
            self._note("intent_deleted", **_of_intent(key))
        elif key.startswith(f"{COMPACTION_INTENTS}/"):
            number, owner, _ = key.rsplit("/", 1)[1].split(".")
            self._note("compaction_intent_deleted", number=int(number), owner=owner)
        elif key.startswith(f"{JOURNAL}/"):
            self._note("state_deleted", number=_number(key))
        elif not key.startswith(f"{HOME}/"):
            self._note("file_removed", files=[_file(key)])

    def _note(self, action: str, **more: Any) -> None:
        self.log.append({"action": action, "driver": self.driver, "storage": self.storage, **more})


@dataclass
class RecordingStorage:
    """Passes everything on, and notes what changes something.

    Args:
        inner: the storage that carries the requests out.
        log: gets the entries.
        driver: a name of the driver that sends the requests.
    """

    inner: Storage
    log: list[Entry]
    driver: str

    @property
    def url(self) -> str:
        return self.inner.url

    @property
    def _notes(self) -> Notes:
        return Notes(self.log, self.driver, self.url)

    def get(self, key: str) -> bytes:
        return self.inner.get(key)

    def reader(self, key: str, size_bytes: int | None = None) -> Any:
        return self.inner.reader(key, size_bytes)

    def list(self, folder: str, skip: Sequence[Stretch] = ()) -> Sequence[str]:
        return self.inner.list(folder, skip)

    def lock(self, key: str) -> Any:
        return self.inner.lock(key)

    def put(self, key: str, data: bytes) -> None:
        self.inner.put(key, data)
        self._notes.put(key, data)

    def create(self, key: str, data: bytes) -> bool:
        created = self.inner.create(key, data)
        self._notes.created(key, data, is_new=created)
        return created

    def writer(self, key: str) -> FileWriter:
        return _RecordingWriter(self.inner.writer(key), self._notes, key)

    def move(self, moves: Sequence[tuple[str, str]]) -> None:
        for source, target in moves:
            try:
                self.inner.move([(source, target)])
            except FileNotFoundError:
                self._notes.moved(source, target, action="staged_missed")
                raise
            self._notes.moved(source, target)

    def copy(self, source: str, target: str) -> None:
        """Copy a file as a store without renaming does; nothing happens if it is gone."""
        try:
            data = self.inner.get(source)
        except FileNotFoundError:
            self._notes.moved(source, target, action="staged_missed")
            return
        self.inner.put(target, data)
        self._notes.moved(source, target, action="staged_copied")

    def delete(self, keys: Iterable[str]) -> None:
        for key in list(keys):
            self.inner.delete([key])
            self._notes.deleted(key)

    def delete_folder(self, folder: str, within: str | None = None) -> None:
        gone = self.inner.list(folder)
        self.inner.delete_folder(folder, within)
        for key in gone:
            self._notes.deleted(key)


@dataclass
class _RecordingWriter:
    inner: FileWriter
    notes: Notes
    key: str
    crc32: int = 0

    def write(self, data: bytes | memoryview) -> int:
        self.crc32 = zlib.crc32(data, self.crc32)
        return self.inner.write(data)

    def commit(self) -> None:
        self.inner.commit()
        if self.key.startswith(f"{STAGING}/"):
            self.notes.staged(self.key, self.crc32)

    def discard(self) -> None:
        self.inner.discard()


def _file(path: str, crc32: int = 0) -> Entry:
    found = _MARKS.search(path)
    generation, token = found.groups() if found else (None, None)
    return {"path": path, "generation": int(generation or 1), "token": int(token or "0", 36), "crc32": crc32}


def _staged(key: str) -> Entry:
    return {"path": key, "token": token_of_staged(key)}


def _of_intent(key: str) -> Entry:
    _, _, query, name = key.split("/")
    write, generation, token, _ = name.split(".")
    return {"query": query, "write": write, "generation": int(generation), "token": int(token)}


def _of_manifest(key: str, data: bytes) -> Entry:
    record = CommitRecord.from_bytes(data)
    _, _, query, _, name = key.split("/")
    files = [_file(file.path, file.crc32) for file in record.files]
    write, generation, _ = name.split(".")
    return {"query": query, "write": write, "generation": int(generation), "token": record.token, "files": files}


def _of_compaction(data: bytes) -> Entry:
    one = Compaction.from_bytes(data)
    files = [_file(file.path, file.crc32) for file in one.files]
    return {
        "number": one.number,
        "owner": one.owner,
        "files": files,
        "replaced": [_file(path) for path in one.replaced],
    }


def _number(key: str) -> int:
    return int(key.rsplit("/", 1)[-1].removesuffix(".json"))
