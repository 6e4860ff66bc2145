"""Our side without its guarantees: the same engine stages and moves files; nothing is written down or flushed.

What the other side takes longer than this one is the price of exactly-once. Files that tasks stage are flushed on both
sides; the driver's flushes, intents, manifests, recovery and the lease are missing here.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Any, Self

from awsglue import writing
from batch import commit
from batch.commit import Target
from benchmarks.drain import ours
from connectors.ports import Committed, Manifest
from etlcore.storage.filesystem import OsFileSystem
from streaming import lease


class _NoLease(nullcontext[Any]):
    token = 1
    is_lost = False

    def check(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self


def _move(target: Target, manifest: Manifest) -> Committed:
    files = [file for part in manifest.parts for file in part.files]
    target.table.move([(file.staged, file.final) for file in files])
    return Committed([file.final for file in files], sum(part.rows_out for part in manifest.parts))


def main(*arguments: str) -> None:
    """Take the guarantees away, then drain as the other side does."""
    setattr(commit, "publish", _move)  # noqa: B010  mypy guards functions against assignment, rightly
    setattr(commit, "adopted", lambda *_: None)  # noqa: B010
    setattr(writing.commit, "recover", lambda *_: None)  # noqa: B010
    setattr(lease, "take", lambda *_, **__: _NoLease())  # noqa: B010
    setattr(OsFileSystem, "sync_folder", lambda *_: None)  # noqa: B010
    ours.main(*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
