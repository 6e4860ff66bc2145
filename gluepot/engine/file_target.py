"""A folder of files that a script writes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gluepot.connectors.contracts import Sink
from gluepot.connectors.options import warn_unseen
from gluepot.connectors.registry import SINKS
from gluepot.connectors.values import CommitKey
from gluepot.core.logging import get_logger
from gluepot.core.option_values import SeenOptions
from gluepot.engine.catalog_update import CatalogTarget
from gluepot.frames.time_zone import UTC, TimeZone

if TYPE_CHECKING:
    from gluepot.catalog.store import Catalog

_HARMLESS = frozenset({"useGlueParquetWriter", "strictCheckForQuoting", "optimizePerformance"})
# A stream makes the sink anew for each batch; its options are looked at for the first one.
_WARNED: set[tuple[str, ...]] = set()

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """The catalog table that a write creates or updates.

    Args:
        table: the table, and how it is kept up to date.
        open: opens the catalog. It is called when the write begins, because loading the database takes a while.
    """

    table: CatalogTarget
    open: Callable[[], Catalog]


@dataclass(frozen=True, slots=True)
class FileTarget:
    """A folder of files.

    Args:
        path: folder, local or `s3://`.
        format: a key of `gluepot.connectors.registry.SINKS`.
        format_options: Glue's format options, with `compression` from whichever place the script gave it in.
        partition_keys: columns that become folders.
        rejects_path: where rejected records go; None: below the path.
        catalog: the catalog table to update with each write; None if there is none.
        zone: the zone of texts, in files and in names of folders.
        is_strict: whether nothing is published if something looks like a mistake.
    """

    path: str
    format: str
    format_options: Mapping[str, Any] = field(default_factory=dict)
    partition_keys: Sequence[str] = ()
    rejects_path: str | None = None
    catalog: CatalogEntry | None = None
    zone: TimeZone = UTC
    is_strict: bool = False

    def sink(self, key: CommitKey, ctx: str, rejects_path: str | None) -> Sink:
        """Return the sink of one write.

        Args:
            key: commit key of the write.
            ctx: the script's `transformation_ctx`.
            rejects_path: the stream's `rejectsPath`, used if the target has none.
        """
        options = SeenOptions(self.format_options)
        sink = SINKS[self.format](
            self.path,
            key,
            options,
            partition_keys=self.partition_keys,
            ctx=ctx,
            rejects_path=self.rejects_path or rejects_path,
            zone=self.zone,
        )
        if options.ignored(_HARMLESS) and (place := (self.path, *self.format_options)) not in _WARNED:
            _WARNED.add(place)
            warn_unseen(log, options, _HARMLESS)
        return sink
