"""The sink behind every store of documents: rows go to the store, refused ones to a file that is published.

The rows are in the store before the write is published. What makes the write happen once is the ids: a repetition
overwrites each row with itself. Publishing records that the write is complete, so that a repetition need not run, and
makes the records visible that the store has refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from gluepot.connectors.contracts import DocumentStore, Sink
from gluepot.connectors.documents.ids import DocumentIds
from gluepot.connectors.documents.rows import DocumentRows
from gluepot.connectors.files.sink.layout import staging_of_attempt
from gluepot.connectors.files.sink.names import rejects_name
from gluepot.connectors.files.sink.refused_rows import Origins, RefusedRows
from gluepot.connectors.files.sink.rejects import RejectsFile
from gluepot.connectors.files.sink.staging import Stage
from gluepot.connectors.streams.rejects import NOWHERE, RejectsOfFrame
from gluepot.connectors.values import CommitKey, ManifestPart, Refusal, StagedFile
from gluepot.core.errors import EtlError, PermanentError
from gluepot.core.failpoints import reach
from gluepot.core.storage import open_storage
from gluepot.frames.schema import merge_schemas

if TYPE_CHECKING:
    from gluepot.frames.chunk import Chunk


FOLDER = "gluepot/documents"
"""Below a checkpoint: a folder for each store, with the manifests of its writes and the records that it has refused."""


@dataclass(frozen=True, slots=True)
class DocumentTarget:
    """A store that a script writes to.

    Args:
        store: puts the documents.
        rejects_path: the folder for refused records that the script names; None if it names none.
    """

    store: DocumentStore
    rejects_path: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentSink:
    """Puts the rows of one write of one batch into a store; a `Sink` whose only files are those of refused records.

    Args:
        store: puts the documents.
        key: of the write.
        root: URL of the folder of the manifests.
        rejects_root: URL of the folder of refused records; often the same as `root`.
        ctx: `transformation_ctx`, part of file names; may be empty.
    """

    store: DocumentStore
    key: CommitKey
    root: str
    rejects_root: str
    ctx: str

    @property
    def guarantee(self) -> str:
        """See `Sink`."""
        return self.store.guarantee

    def check(self) -> None:
        """See `Sink`."""
        self.store.check()

    def write(self, chunks: Iterator[Chunk], task: int, attempt: str) -> ManifestPart:
        """Put every row, and stage every error record and every row that the store refuses."""
        stage = Stage(open_storage(self.rejects_root), f"{staging_of_attempt(self.key, attempt)}/{task:05d}-rejects")
        is_own = self.rejects_root == self.root
        rejects = RejectsFile(stage, rejects_name(self.key, self.ctx, task, is_own=is_own))
        refused, putting = RefusedRows(rejects), _Putting(self.store, self.key, task)
        try:
            for chunk in chunks:
                rejects.add(chunk.errors)
                for refusal in putting.put(chunk):
                    row = chunk.batch.slice(refusal.index, 1)
                    origin = None if chunk.origin is None else chunk.origin.of(np.array([refusal.index]))
                    refused.add(row, {}, Origins.together([(1, origin)]), refusal.reason, refusal.message)
            refused.finish()
            files = rejects.finish()
            stage.settle()
        except BaseException:
            with suppress(EtlError):  # what made the task fail is the better thing to report
                stage.discard()
            raise
        return putting.part(files, rejects.by_reason)

    def knowing(self, history: Iterable[bytes]) -> Sink:  # noqa: ARG002  documents of a store need not agree
        """Return the sink as it is."""
        return self

    def again(self, parts: Sequence[ManifestPart]) -> Sink | None:  # noqa: ARG002  as above
        """Return None: rows fit together whatever they are."""
        return None


@dataclass(frozen=True, slots=True)
class UnrecordedSink:
    """Puts the rows of a write that has no folder for manifests and refused records; a `TaskSink`.

    Args:
        store: puts the documents.
        key: of the write.
        rejects: keeps error records.
    """

    store: DocumentStore
    key: CommitKey
    rejects: RejectsOfFrame = NOWHERE

    def write(self, chunks: Iterator[Chunk], task: int, attempt: str) -> ManifestPart:  # noqa: ARG002
        """Put every row.

        Raises:
            PermanentError: the store refuses a row.
        """
        putting, kept_aside = _Putting(self.store, self.key, task), 0
        with self.rejects.of_task(task) as rejects:
            for chunk in chunks:
                rejects.add(chunk.errors)
                kept_aside += len(chunk.errors)
                for refusal in putting.put(chunk):
                    raise PermanentError(
                        f"{self.store.place} refuses a row: {refusal.message} Give connection_options a rejectsPath, a"
                        " folder that keeps such rows, and start the job again."
                    )
        return replace(putting.part((), {}), kept_aside=kept_aside)


class _Putting:
    """Puts the chunks of one task."""

    def __init__(self, store: DocumentStore, key: CommitKey, task: int) -> None:
        self._store = store
        self._ids = DocumentIds(key, task)
        self._schema: pa.Schema | None = None
        self._rows = 0

    def part(self, files: Sequence[StagedFile], rejected: Mapping[str, int]) -> ManifestPart:
        schema = None if self._schema is None else self._schema.serialize().to_pybytes()
        return ManifestPart(files, schema=schema, rows_out=self._rows, rows_put=self._rows, rejected=rejected)

    def put(self, chunk: Chunk) -> Sequence[Refusal]:
        batch = chunk.batch
        if not batch.num_rows:
            return ()
        self._schema = batch.schema if self._schema is None else merge_schemas(self._schema, batch.schema)
        refusals = self._store.put(DocumentRows(chunk, self._ids.of(chunk)))
        reach("documents.put")
        self._rows += batch.num_rows - len(refusals)
        return refusals
