"""The two places that a write goes to: the table's folder, and the folder of its rejected records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gluepot.connectors.ports import Sink
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
        """Yield each storage once, with the values of `rejects` that its files have; the table comes last.

        The table is last, so that only the manifest remains to be written once data files are visible.
        """
        if self.rejects == self.table:
            yield self.table, (False, True)
        else:
            yield self.rejects, (True,)
            yield self.table, (False,)


def open_target(sink: Sink) -> Target:
    """Return the storages of a sink, without accessing them."""
    return Target(open_storage(sink.root), open_storage(sink.rejects_root))
