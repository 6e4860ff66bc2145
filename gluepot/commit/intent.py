"""The list of file names that a publication is about to use, so that a crash leaves no unknown files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gluepot.commit.record import CommitRecord, plain_key
from gluepot.connectors.files.sink.layout import intent_key
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import CheckpointError
from gluepot.core.stored_json import UNFIT, parsed_json


@dataclass(frozen=True, slots=True)
class Intent:
    """One publication in progress.

    Args:
        key: commit key of the write.
        generation: the generation that its manifest will have.
        token: token of the driver.
        files: for each file, whether it is a rejects file, and its final path.
    """

    key: CommitKey
    generation: int
    token: int
    files: Sequence[tuple[bool, str]]

    @classmethod
    def to_publish(cls, record: CommitRecord) -> Intent:
        """Return the intent to write before a record is published."""
        files = [(file.rejects, file.path) for file in record.files]
        return cls(record.key, record.generation, record.token, files)

    @property
    def path(self) -> str:
        """Its path in the table's folder."""
        return intent_key(self.key, self.generation, self.token)

    def to_bytes(self) -> bytes:
        """Return the JSON text."""
        plain = {"key": plain_key(self.key), "generation": self.generation, "token": self.token, "files": self.files}
        return json.dumps(plain).encode()

    @classmethod
    def from_bytes(cls, text: bytes) -> Intent:
        """Read the JSON text back.

        Raises:
            CheckpointError: the text is not an intent.
        """
        try:
            plain = parsed_json(text)
            files = [(bool(rejects), str(path)) for rejects, path in plain["files"]]
            return cls(CommitKey(**plain["key"]), int(plain["generation"]), int(plain["token"]), files)
        except UNFIT as error:
            start = text[:40]
            raise CheckpointError(f"an intent beginning with {start!r} cannot be read; restore or remove it") from error
