"""The sink behind every file format: a task's rows and rejected records become staged files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from gluepot.connectors.files.contracts import OutputFormat
from gluepot.connectors.files.sink.drift import DriftPolicy, Layout, Resolver, settle
from gluepot.connectors.files.sink.layout import HOME, staging_of_attempt
from gluepot.connectors.files.sink.names import rejects_name, run_prefix
from gluepot.connectors.files.sink.partition_file import FilePlan
from gluepot.connectors.files.sink.partitions import Partitions
from gluepot.connectors.files.sink.refused_rows import RefusedRows
from gluepot.connectors.files.sink.rejects import RejectsFile
from gluepot.connectors.files.sink.staging import Stage
from gluepot.connectors.values import CommitKey, ManifestPart
from gluepot.core.errors import ConfigError, EtlError, PermanentError
from gluepot.core.logging import configure_once, get_logger
from gluepot.core.storage import canonical_url, open_storage
from gluepot.frames.chunk import Chunk
from gluepot.frames.time_zone import UTC, TimeZone
from gluepot.frames.unreadable_texts import readable

log = get_logger(__name__)

# What table formats aim at by default; a file of this size is also far below S3's limit of 5 GB for a copy.
TARGET_FILE_SIZE_BYTES = 512 << 20


@dataclass(frozen=True, slots=True)
class FileSink:
    """Writes the chunks of one write of one batch to files. Frozen and picklable; make it with `new_file_sink`.

    Args:
        root: URL of the table's folder.
        key: of the write; file and folder names are made from it.
        format: how files are encoded.
        partition_keys: columns that become folders, in this order.
        ctx: `transformation_ctx`, which Glue makes part of file names; may be empty.
        rejects_root: URL of the folder for rejected records; `root` for the table's own `_rejects`.
        target_file_size_bytes: a file that has reached this gets no further rows.
        drift: what becomes of values whose type their column does not have; None for files that need not agree.
        known: the columns that earlier writes have made.
        fresh: columns of this batch that its tasks would not have agreed about.
        zone: the zone of timestamps in names of folders.
        guarantee: what `gluepot.commit` makes of the staged files.
    """

    root: str
    key: CommitKey
    format: OutputFormat
    partition_keys: tuple[str, ...]
    ctx: str
    rejects_root: str
    target_file_size_bytes: int = TARGET_FILE_SIZE_BYTES
    drift: DriftPolicy | None = None
    known: Layout = field(default_factory=Layout)
    fresh: Layout = field(default_factory=Layout)
    zone: TimeZone = UTC
    guarantee: str = field(default="exactly-once", init=False)

    def check(self) -> None:
        """Write and remove an empty file in each folder the sink writes to.

        Raises:
            ConfigError: no right to write there, no such bucket, or a file where a folder should be.
            TransientError: the disk is full, or the server does not answer.
        """
        for url in dict.fromkeys((self.root, self.rejects_root)):
            storage = open_storage(url)
            probe = f"{HOME}/write-check"
            storage.put(probe, b"")
            storage.delete([probe])

    def write(self, chunks: Iterator[Chunk], task: int, attempt: str) -> ManifestPart:
        """Stage every row and every error record.

        Rows are held in Arrow until a partition has `format.gather_bytes` of them or the task ends: ordinarily each
        partition value gets one file with the columns of all its rows.

        Raises:
            ConfigError: the column of a partition key is a struct, list or map.
            EtlError: as the storage raises; nothing of this attempt is left then.
        """
        staged = f"{staging_of_attempt(self.key, attempt)}/{task:05d}"
        data = Stage(open_storage(self.root), f"{staged}-data")
        aside = Stage(open_storage(self.rejects_root), f"{staged}-rejects")
        prefix = run_prefix(self.key, self.ctx)
        is_own = self.rejects_root == self.root
        rejects = RejectsFile(aside, rejects_name(self.key, self.ctx, task, is_own=is_own))
        plan = FilePlan(self.format, data, prefix, task, self.partition_keys, self.target_file_size_bytes, self.zone)
        resolver = (
            None if self.drift is None else Resolver(self.drift, self.known, self.fresh, self.partition_keys, self.zone)
        )
        refused = RefusedRows(rejects)
        partitions = Partitions(plan, refused, resolver)
        try:
            for chunk in chunks:
                writable = readable(chunk)
                rejects.add(writable.errors)
                partitions.add(writable.batch, writable.origin)
            data_files = partitions.finish()
            refused.finish()
            files = [*data_files, *rejects.finish()]
            for stage in (data, aside):
                stage.settle()
        except BaseException:
            for stage in (data, aside):
                with suppress(EtlError):  # what made the task fail is the better thing to report
                    stage.discard()
            raise
        if renamed := {**plan.renamed, **(resolver.found.renamed() if resolver else {})}:
            configure_once()
            hint = "readers take names that differ by case for one, and a column has one type; see typeDrift"
            log.warning("columns_renamed", table=self.root, names=renamed, hint=hint)
        schema = partitions.schema
        return ManifestPart(
            files=files,
            schema=None if schema is None else schema.serialize().to_pybytes(),
            rows_out=sum(file.rows for file in files if not file.rejects),
            rejected=rejects.by_reason,
            columns=None if resolver is None else resolver.found.to_history(),
            untyped=None if resolver is None else resolver.untyped.to_history(),
            untyped_values={} if resolver is None else resolver.untyped_values,
        )

    def knowing(self, history: Iterable[bytes]) -> FileSink:
        """Return the sink with the columns that earlier writes have made."""
        return self if self.drift is None else replace(self, known=Layout.folded(history))

    def again(self, parts: Sequence[ManifestPart]) -> FileSink | None:
        """Return a sink that settles what the tasks did not agree about; None when they agree."""
        found = [Layout.from_bytes(one) for part in parts for one in part.columns or ()]
        untyped = [one for part in parts for data in part.untyped or () for one in Layout.from_bytes(data).columns]
        settled = settle(self.known, found, self.partition_keys, untyped)
        if settled is None:
            return None
        if settled == self.fresh:
            raise PermanentError(
                f"the tasks of a write to {self.root} do not agree about the columns {', '.join(settled.names)};"
                " this is a bug, please report it"
            )
        return replace(self, fresh=settled)


def new_file_sink(
    path: str,
    key: CommitKey,
    format: OutputFormat,  # noqa: A002 - Glue's own word for it
    *,
    partition_keys: Sequence[str] = (),
    ctx: str = "",
    rejects_path: str | None = None,
    target_file_size_bytes: int = TARGET_FILE_SIZE_BYTES,
    drift: DriftPolicy | None = None,
    zone: TimeZone = UTC,
) -> FileSink:
    """Return a sink for a path as a script gives it.

    Args:
        path: the table's folder, local or in S3.
        key: of the write.
        format: how files are encoded.
        partition_keys: Glue's `partitionKeys`.
        ctx: `transformation_ctx`.
        rejects_path: a folder for rejected records; None for `_rejects` in the table's own.
        target_file_size_bytes: when to begin another file.
        drift: what becomes of values whose type their column does not have; None for files that need not agree.
        zone: the zone of timestamps in names of folders.

    Raises:
        ConfigError: a path has an unknown scheme, or a partition key is empty or named twice.
    """
    lowered = [name.lower() for name in partition_keys]
    if "" in lowered or len(set(lowered)) < len(lowered):
        raise ConfigError(f"partitionKeys is {list(partition_keys)}; name each column once")
    root = canonical_url(path)
    rejects_root = root if rejects_path is None else canonical_url(rejects_path)
    return FileSink(
        root, key, format, tuple(partition_keys), ctx, rejects_root, target_file_size_bytes, drift, zone=zone
    )
