"""The dead letters of a query: records on which its function failed, published like any other write of the batch.

The folder `<checkpoint>/gluepot/dead_letters` has the layout of a table, with manifests. The files with the records lie
there too, or in `rejectsPath`. A manifest here also decides that its records no longer belong to the batch: a replay
reads the manifest and runs the function on the other records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from uuid import uuid4

from gluepot import commit
from gluepot.commit.publish import published
from gluepot.connectors.files.sink.layout import REJECTS, staging_of_attempt
from gluepot.connectors.files.sink.names import run_prefix
from gluepot.connectors.files.sink.rejects import RejectsFile
from gluepot.connectors.files.sink.staging import Stage
from gluepot.connectors.ports import CommitKey, Manifest, ManifestPart, SourceRange
from gluepot.connectors.streams.dead_letters import DeadLetter, dump_dead_letters
from gluepot.core.errors import EtlError
from gluepot.core.storage import open_storage
from gluepot.engine.write_totals import WrittenFile
from gluepot.streaming.quarantine.bisection import Ranges

FOLDER = "gluepot/dead_letters"
_CTX = "dead_letters"


class DeadLetters:
    """The dead letters of one query, in rounds: a batch that fails again without the records of round 1 gets a round 2.

    Args:
        checkpoint: the query's checkpoint, path or URL.
        rejects_path: where the files go; None to put them beside the manifests.
        query_id: Spark's id of the query.
        token: the driver's lease token. Once this driver has taken over, earlier drivers can decide nothing more.
    """

    def __init__(self, checkpoint: str, rejects_path: str | None, query_id: str, token: int) -> None:
        home = open_storage(f"{checkpoint.rstrip('/')}/{FOLDER}")
        self._target = commit.Target(home, home if rejects_path is None else open_storage(rejects_path))
        self._query_id = query_id
        self._token = token

    def decided(self, batch_id: int) -> list[Ranges]:
        """Return the positions set aside in each round; empty for a round that was taken back or only sealed."""
        found: list[Ranges] = []
        while (record := published(self._target, self._key(batch_id, len(found) + 1))) is not None:
            found.append(tuple(record.ranges))
        return found

    def take_over(self, batch_id: int) -> list[Ranges]:
        """Return the same as `decided`, after making sure that an earlier driver can add nothing.

        For this, each round gets a record of this driver, and so does one more, empty round.

        Raises:
            LeaseHeld: a later driver has taken over.
        """
        commit.recover(self._target, self._query_id, self._token)
        rounds = self.decided(batch_id)
        if not rounds or rounds[-1]:
            rounds.append(())
        for n, ranges in enumerate(rounds, 1):
            if ranges:
                commit.adopted(self._target, Manifest(self._key(batch_id, n), ranges=ranges, token=self._token))
            else:
                self.publish(batch_id, n, (), ())
        return rounds

    def publish(
        self, batch_id: int, nth: int, letters: Iterable[DeadLetter], ranges: Sequence[SourceRange]
    ) -> list[WrittenFile]:
        """Publish the dead letters of a round, which makes them visible and the decision final in one step.

        Args:
            batch_id: the number of the batch.
            nth: the round, counted from 1.
            letters: the records in the ranges; an empty iterable takes the round back.
            ranges: the positions of the records.

        Returns:
            The files that hold the letters.

        Raises:
            EtlError: the storage or the source failed; nothing is decided then.
        """
        key, attempt = self._key(batch_id, nth), f"{self._token}/{uuid4().hex}"
        folder = f"{REJECTS}/" if self._target.rejects == self._target.table else ""
        stage = Stage(self._target.rejects, f"{staging_of_attempt(key, attempt)}/letters")
        file = RejectsFile(stage, f"{folder}{run_prefix(key, key.ctx)}part-r-00000.rejects")
        try:
            for letter in letters:
                file.add_rows(dump_dead_letters([letter]))
            files = file.finish()
            stage.settle()
        except BaseException:
            with suppress(EtlError):  # the first error is the better one to report
                stage.discard()
            raise
        rows = sum(file.by_reason.values())
        part = ManifestPart(files=files, ranges=tuple(ranges), rows_in=rows, rejected=file.by_reason)
        outcome = commit.publish(self._target, Manifest(key, [part], token=self._token))
        return [
            WrittenFile(self._target.rejects.url, path, file.size_bytes, file.rows, rejects=True)
            for path, file in zip(outcome.rejects, files, strict=False)
        ]

    def _key(self, batch_id: int, nth: int) -> CommitKey:
        return CommitKey(self._query_id, batch_id, _CTX if nth == 1 else f"{_CTX}.{nth}")
