"""The two places a write goes to: the table, and where its rejected records are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gluepot.connectors.contracts import Sink
from gluepot.core.storage import Storage, open_storage


@dataclass(frozen=True, slots=True)
class Target:
    """Storages of one write.

    Args:
        table: holds data files, manifests and intents.
        rejects: holds rejects files; equal to `table` unless the user named another folder.
    """

    table: Storage
    rejects: Storage

    def each(self) -> Iterator[tuple[Storage, tuple[bool, ...]]]:
        """Yield every storage once, with the values of `rejects` that files in it have; the table comes last.

        Last, so that the moment data becomes visible is followed by the manifest and by nothing else.
        """
        if self.rejects == self.table:
            yield self.table, (False, True)
        else:
            yield self.rejects, (True,)
            yield self.table, (False,)


def open_target(sink: Sink) -> Target:
    """Return where a sink's staged files lie; nothing is touched yet."""
    return Target(open_storage(sink.root), open_storage(sink.rejects_root))
