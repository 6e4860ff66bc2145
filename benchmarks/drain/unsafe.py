"""Our drain without its guarantees: the same engine stages and moves files; nothing is written down or flushed.

What a drain takes longer with them is the price of exactly-once. Files that tasks stage are flushed in both cases; the
driver's flushes, intents, manifests, recovery and the lease are missing here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, Self
from unittest.mock import patch

from gluepot import commit
from gluepot.commit import Target
from gluepot.connectors.values import Committed, Manifest
from gluepot.core.storage.filesystem import OsFileSystem
from gluepot.streaming.checkpoints import lease


class _NoLease(nullcontext[Any]):
    token = 1
    is_lost = False

    def check(self) -> None:
        pass

    def confirm(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self


def _move(target: Target, manifest: Manifest) -> Committed:
    files = [file for part in manifest.parts for file in part.files]
    target.table.move([(file.staged, file.final) for file in files])
    return Committed([file.final for file in files], sum(part.rows_out for part in manifest.parts))


@contextmanager
def unsafe() -> Iterator[None]:
    """Take the guarantees away, and give them back at the end."""
    with ExitStack() as taken:
        for owner, name, instead in (
            (commit, "publish", _move),
            (commit, "adopted", lambda *_: None),
            (commit, "recover", lambda *_: None),
            (lease, "take", lambda *_, **__: _NoLease()),
            (OsFileSystem, "sync_folder", lambda *_: None),
            (OsFileSystem, "sync_all", lambda *_: None),
        ):
            taken.enter_context(patch.object(owner, name, instead))
        yield
