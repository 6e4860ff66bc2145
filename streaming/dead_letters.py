"""The dead letters of a query: records its function failed on, published like any other write of the batch.

They lie in `<checkpoint>/gluepot/dead_letters`, which is laid out as a table is, with its manifests; the files
themselves lie there too, or in `rejectsPath`. A manifest here is also the decision that its records are out of the
batch: a replay reads it and runs the function on the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from uuid import uuid4

from batch import commit
from batch.commit.publish import published
from connectors.dead_letters import DeadLetter, dump_dead_letters
from connectors.filesink.layout import REJECTS, staging_of_attempt
from connectors.filesink.names import run_prefix
from connectors.filesink.rejects import RejectsFile
from connectors.filesink.staging import Stage
from connectors.ports import CommitKey, Manifest, ManifestPart, SourceRange
from etlcore.errors import EtlError
from etlcore.storage import open_storage

FOLDER = "gluepot/dead_letters"
_CTX = "dead_letters"


class DeadLetters:
    """Dead letters of one query, in rounds: a batch that fails again without those of round 1 gets a round 2.

    Args:
        checkpoint: the query's checkpoint, path or URL.
        rejects_path: where the files go; None for beside the manifests.
    """

    def __init__(self, checkpoint: str, rejects_path: str | None) -> None:
        home = open_storage(f"{checkpoint.rstrip('/')}/{FOLDER}")
        self._target = commit.Target(home, home if rejects_path is None else open_storage(rejects_path))
        self._recovered = False

    def rounds(self, query_id: str, batch_id: int) -> list[Sequence[SourceRange]]:
        """Return the positions set aside in each round so far; of one that was taken back, none."""
        found: list[Sequence[SourceRange]] = []
        while (record := published(self._target, _key(query_id, batch_id, len(found) + 1))) is not None:
            found.append(record.ranges)
        return found

    def publish(
        self, query_id: str, batch_id: int, nth: int, letters: Iterable[DeadLetter], ranges: Sequence[SourceRange]
    ) -> None:
        """Make the dead letters of a round visible and the decision final, both or neither.

        Args:
            query_id: of the query.
            batch_id: of the batch.
            nth: the round, counted from 1.
            letters: the records in the ranges; none takes a round back.
            ranges: their positions.

        Raises:
            EtlError: as the storage or the source raises; nothing is decided then.
        """
        if not self._recovered:
            commit.recover(self._target, query_id)
            self._recovered = True
        key, attempt = _key(query_id, batch_id, nth), uuid4().hex
        folder = f"{REJECTS}/" if self._target.rejects == self._target.table else ""
        stage = Stage(self._target.rejects, f"{staging_of_attempt(key, attempt)}/letters")
        file = RejectsFile(stage, f"{folder}{run_prefix(key, key.ctx)}part-r-00000.rejects")
        try:
            for letter in letters:
                file.add_rows(dump_dead_letters([letter]))
            files = file.finish()
        except BaseException:
            with suppress(EtlError):  # the first error is the better one to report
                stage.discard()
            raise
        rows = sum(file.by_reason.values())
        part = ManifestPart(files=files, ranges=tuple(ranges), rows_in=rows, rejected=file.by_reason)
        commit.publish(self._target, Manifest(key, [part]))


def _key(query_id: str, batch_id: int, nth: int) -> CommitKey:
    return CommitKey(query_id, batch_id, _CTX if nth == 1 else f"{_CTX}.{nth}")
