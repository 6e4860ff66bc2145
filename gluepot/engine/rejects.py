"""Keeps and counts the rejected records of one batch or run that no table keeps.

A table keeps the rejected records of a DynamicFrame that is written to it. A DataFrame cannot hold such records, and
neither can a stream that records are sent to. The tasks that make the rows write the records to files instead, and the
driver counts these when the function or the script has returned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.connectors.streams.rejects import SUFFIX, RejectsOfFrame, rejects_file
from gluepot.core.storage import open_storage
from gluepot.engine.write_totals import WriteTotals, WrittenFile

if TYPE_CHECKING:
    from gluepot.core.storage import Storage

_IDENTITY = ("raw", "stream", "shard", "position", "reason")


def folder_of(query_id: str, batch_id: int) -> str:
    """Return the folder of a batch's files, relative to the root."""
    return f"{query_id}/{batch_id:08d}"


class Rejects:
    """The rejected records of one attempt of a batch, or of one run.

    Args:
        root: URL of the folder of the files; None if the batch or run has none.
        query_id: of the commit keys of the batch or run.
        batch_id: as `query_id`.
    """

    def __init__(self, root: str | None, query_id: str, batch_id: int) -> None:
        self.root = root
        self._folder = folder_of(query_id, batch_id)
        self._attempt, self._frames = uuid4().hex[:8], 0
        self._counted: set[str] = set()
        self._changing = Lock()

    @property
    def is_used(self) -> bool:
        """Whether a frame was made whose rejected records would be here."""
        return self._frames > 0

    def begin_attempt(self) -> None:
        """Begin another attempt of the batch; `count` removes what the earlier one has kept."""
        with self._changing:
            self._attempt, self._frames = uuid4().hex[:8], 0
            self._counted.clear()

    def of_frame(self) -> RejectsOfFrame:
        """Return where the rejected records of a frame go that is about to become rows."""
        with self._changing:
            self._frames += 1
            return RejectsOfFrame(self.root, f"{self._folder}/{self._attempt}-{self._frames:04d}-")

    def count(self, totals: WriteTotals) -> None:
        """Add the records to the totals, and remove what an earlier attempt has kept.

        A frame may be used as rows more than once, and may be written to a table, too. Its rejected records are then in
        several files, of which one remains. To see that, a number for each record is in memory for the time.

        Args:
            totals: knows the tables' files of rejected records.
        """
        if self.root is None or not self.is_used:
            return
        storage, own = open_storage(self.root), f"{self._folder}/{self._attempt}-"
        files = [name for name in storage.list(self._folder) if name.endswith(SUFFIX)]
        storage.delete([name for name in files if not name.startswith(own)])
        fresh = [name for name in files if name.startswith(own) and name not in self._counted]
        if not fresh:
            return
        self._counted.update(fresh)
        kept = _records_in_tables(totals.written)
        for _, names in groupby(fresh, lambda name: name.rsplit("-", 2)[0]):
            of_frame: Counter[int] = Counter()
            for name in names:
                written = _without_kept(storage, name, of_frame, kept, totals.rejected)
                if written is not None:
                    totals.written.append(written)
            kept |= of_frame


def _without_kept(
    storage: Storage, name: str, of_frame: Counter[int], kept: Counter[int], rejected: Counter[str]
) -> WrittenFile | None:
    """Remove the records from a file that other files have; return the file, or None if nothing remains of it.

    Args:
        storage: has the file.
        name: of the file.
        of_frame: how often each record was in the files of the same frame so far; grows.
        kept: how often each record is in the files of other frames.
        rejected: the number of records by reason; grows.
    """
    content = storage.get(name)
    rows = pq.read_table(pa.BufferReader(content))
    is_new = []
    for record in _records(rows):
        of_frame[record] += 1
        is_new.append(of_frame[record] > kept[record])
    if not any(is_new):
        storage.delete([name])
        return None
    if not all(is_new):
        rows = rows.filter(pa.array(is_new, pa.bool_()))
        content = rejects_file(rows.to_batches())
        storage.put(name, content)
    rejected.update(rows.column("reason").to_pylist())
    return WrittenFile(storage.url, name, len(content), rows.num_rows, rejects=True)


def _records_in_tables(written: Iterable[WrittenFile]) -> Counter[int]:
    """Return how often each rejected record is in the tables that were written; some may be removed by now."""
    kept: Counter[int] = Counter()
    for file in written:
        if file.rejects:
            with suppress(FileNotFoundError):
                kept |= Counter(_records(pq.read_table(pa.BufferReader(open_storage(file.root).get(file.path)))))
    return kept


def _records(rows: pa.Table) -> Iterator[int]:
    """Yield a number for each record that is equal for equal records."""
    yield from map(hash, zip(*(rows.column(name).to_pylist() for name in _IDENTITY), strict=True))
