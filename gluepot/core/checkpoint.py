"""Reads Spark's streaming checkpoint: the last planned batch, the last committed batch, and their offsets.

Layout (Spark's `HDFSMetadataLog`): `metadata` holds the query id; `offsets/N` says what batch N reads, and is written
before it runs; `commits/N` says that it is done. The first line of an entry is its version. In an offset entry a line
of metadata follows, then one line per source of the query.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gluepot.core.errors import CheckpointError
from gluepot.core.storage import Storage, open_storage

BACKUP = "gluepot/backup"
"""The folder to which commands move the files that they take out of a checkpoint."""


@dataclass(frozen=True, slots=True)
class OffsetEntry:
    """One file of the offset log.

    Args:
        batch_id: N of `offsets/N`.
        sources: the parsed offset of each source, in the order of the query's plan.
    """

    batch_id: int
    sources: tuple[dict[str, Any], ...]


class Checkpoint:
    """A checkpoint folder, which may not exist yet.

    Args:
        location: path or URI, as in `checkpointLocation`.
    """

    def __init__(self, location: str) -> None:
        self.location = location
        self.storage: Storage = open_storage(location)
        self._id_is_kept = False

    def keep_planned(self, batch_id: int) -> None:
        """Make a planned batch survive a power cut, before anything is done for it.

        Hadoop's local file system flushes nothing that it writes. If the entry were lost after the batch was published,
        the batch would be planned again with other records, which the table refuses.
        """
        kept = [f"offsets/{batch_id}", f"offsets/.{batch_id}.crc"]
        if not self._id_is_kept:
            kept += ["metadata", ".metadata.crc"]
        self.storage.flush(kept)
        self._id_is_kept = True

    def query_id(self) -> str | None:
        """Return Spark's id of the query; None before the first start. It changes when the checkpoint is deleted."""
        try:
            return str(json.loads(self.storage.get("metadata"))["id"])
        except FileNotFoundError:
            return None

    def replaced_query_ids(self) -> list[str]:
        """Return the ids of the queries that `gluepot checkpoint rewind` has ended here, oldest first."""
        found = []
        for key in self.storage.list(BACKUP):
            if key.rsplit("/", 1)[-1] == "metadata":
                with suppress(FileNotFoundError, ValueError, KeyError, TypeError):
                    found.append(str(json.loads(self.storage.get(key))["id"]))
        return list(dict.fromkeys(found))

    def newest_offsets(self) -> OffsetEntry | None:
        """Return the newest planned batch, committed or not; None before the first batch.

        Raises:
            CheckpointError: the newest file is empty or torn.
        """
        newest = self._newest("offsets")
        return None if newest is None else self.offsets(newest)

    def newest_done(self) -> int | None:
        """Return the number of the newest batch that is done; None before the first.

        Spark plans a batch when the one before it is done, so only of the newest planned batch is the commit log asked.
        A power cut may leave no commit of a batch before it, and bring back one that Spark had removed long ago.
        """
        planned, committed = self._newest("offsets"), self._newest("commits")
        if planned is None or (committed is not None and committed >= planned):
            return planned
        return planned - 1 if planned else None

    def offsets(self, batch_id: int) -> OffsetEntry:
        """Return the offset entry of a batch, which says what the batch reads.

        Raises:
            CheckpointError: the file is missing, empty or torn.
        """
        try:
            text = self.storage.get(f"offsets/{batch_id}")
        except FileNotFoundError as missing:
            raise CheckpointError(
                f"The checkpoint {self.location} has no offsets/{batch_id}; run"
                f" `gluepot checkpoint doctor {self.location}`.",
            ) from missing
        try:
            version, _, *sources = text.decode().splitlines()
            parsed = tuple(json.loads(line) for line in sources)
        except ValueError as torn:
            raise CheckpointError(
                f"The checkpoint file {self.location}/offsets/{batch_id} is torn: {len(text)} bytes, not a whole entry;"
                f" run `gluepot checkpoint doctor {self.location}`.",
            ) from torn
        if not version.startswith("v"):
            raise CheckpointError(f"The checkpoint file {self.location}/offsets/{batch_id} is not an offset log entry.")
        return OffsetEntry(batch_id, parsed)

    def _newest(self, log: str) -> int | None:
        names = (key.rsplit("/", 1)[-1] for key in self.storage.list(log))
        return max((int(name) for name in names if name.isdecimal()), default=None)
