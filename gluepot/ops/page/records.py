"""Reads rejected records in a separate thread, so that the page does not wait for a slow storage."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from gluepot.core.errors import EtlError
from gluepot.core.storage import open_storage
from gluepot.dead_letters.folder import LetterFile, LetterFolder
from gluepot.dead_letters.letters import Letter, read_letters
from gluepot.dead_letters.show import printable
from gluepot.engine.write_totals import WrittenFile

MOST_RECORDS = 10
MOST_FILE_BYTES = 8 << 20
MOST_KNOWN = 16


@dataclass(frozen=True, slots=True)
class Record:
    """A rejected record in the form that the page shows, with all special characters escaped.

    Args:
        reason: a short fixed word.
        message: one sentence.
        origin: stream, shard and position of the record.
        size_bytes: length of its bytes; None if it has none.
        text: its bytes as one line of text, shortened.
    """

    reason: str
    message: str
    origin: str
    size_bytes: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Read:
    """The result of reading one file: its first records, or a sentence that says why there are none."""

    records: Sequence[Record] = ()
    note: str = ""


def in_background(work: Callable[[], None]) -> None:
    """Run something in a thread that ends with the process."""
    threading.Thread(target=work, name="gluepot-ops-rejects", daemon=True).start()


@dataclass(slots=True)
class RecordReader:
    """Reads files of rejected records, one at a time, each once: files never change.

    Args:
        run: starts the reading.
    """

    run: Callable[[Callable[[], None]], None] = in_background
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _known: dict[WrittenFile, Read] = field(default_factory=dict)
    _reading: bool = False

    def first_of(self, file: WrittenFile) -> Read | None:
        """Return the first records of a file; None while it is being read, which this begins."""
        with self._lock:
            if (known := self._known.get(file)) is not None or self._reading:
                return known
            self._reading = True
        self.run(lambda: self._read(file))
        return self._known.get(file)

    def _read(self, file: WrittenFile) -> None:
        found = Read(note="The file could not be read; standard error says why.")
        try:
            found = read(file)
        finally:
            with self._lock:
                self._reading = False
                self._known[file] = found
                while len(self._known) > MOST_KNOWN:
                    del self._known[next(iter(self._known))]


def read(file: WrittenFile) -> Read:
    """Read the first `MOST_RECORDS` records of a file; if it is too large or unreadable, return a sentence instead."""
    if file.size_bytes > MOST_FILE_BYTES:
        return Read(note=f"The file has {file.size_bytes:,} bytes; see it with `gluepot dlq show`.")
    try:
        storage = open_storage(file.root)
        folder = LetterFolder(storage, storage, [LetterFile(file.path)], has_manifests=False)
        return Read([_shown(letter) for letter in islice(read_letters(folder), MOST_RECORDS)])
    except EtlError as error:
        return Read(note=str(error))


def _shown(letter: Letter) -> Record:
    return Record(
        letter.reason,
        printable(letter.message.encode()),
        printable(letter.origin.encode()),
        None if letter.raw is None else len(letter.raw),
        printable(letter.raw),
    )
