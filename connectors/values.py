"""The plain values that planner, tasks and driver exchange with connectors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from gluepot.core.on_malformed import OnMalformed
from gluepot.frames.chunk import ErrorRecord

if TYPE_CHECKING:
    from gluepot.frames.declared import DeclaredPayload, GrowingPayload

_EXACT_IN_JSON = 2**53


@dataclass(frozen=True, order=True, slots=True)
class SourceRange:
    """The exact input that a task reads. Checkpoint, manifest and bookmark all describe input in this form.

    For Kafka: `stream` is the topic, `stream_id` the id the broker gave it, `shard` the partition, and the records are
    those with `start <= offset < end`. There may be fewer than `end - start` (transaction markers, compaction).

    For Kinesis the positions are sequence numbers, and nearly all numbers between two records belong to no record
    (`gluepot.connectors.kinesis.positions`).

    Args:
        source: the kind, such as `kafka`.
        stream: its name.
        stream_id: distinguishes the stream from others of the same name.
        shard: partition or shard.
        start: first position.
        end: one past the last position.
        proof: what the source recorded about the records when it planned the range, so that a reader can check that it
            got the same ones. It is empty if the source recorded nothing, and for a piece of a range. Equality of
            ranges ignores it.
    """

    source: str
    stream: str
    stream_id: str
    shard: str
    start: int
    end: int
    proof: str = field(default="", compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the plain form that goes into manifests.

        Positions that a double cannot hold exactly become text: most JSON readers, unlike Python's, would round them.
        """
        plain = asdict(self)
        for name in ("start", "end"):
            if plain[name] > _EXACT_IN_JSON:
                plain[name] = str(plain[name])
        if not self.proof:
            del plain["proof"]
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> SourceRange:
        """Read the plain form back."""
        return cls(
            source=plain["source"],
            stream=plain["stream"],
            stream_id=plain["stream_id"],
            shard=plain["shard"],
            start=int(plain["start"]),
            end=int(plain["end"]),
            proof=plain.get("proof", ""),
        )

    def piece(self, start: int, end: int) -> SourceRange:
        """Return a part of the range, without a proof: the proof of the whole does not cover a part."""
        return self if (start, end) == (self.start, self.end) else replace(self, start=start, end=end, proof="")


@dataclass(frozen=True, slots=True)
class RawBatch:
    """Records of one range in order, as the source holds them.

    Args:
        values: payloads; None where the source has a key and no value.
        positions: each record's offset, ascending.
        stream: topic or stream.
        shard: partition or shard.
        newest_epoch_ms: the latest record time stamp in the batch, or None where the source has none.
        columns: further columns the user asked for (`__src_timestamp`, headers), one value per record.
    """

    values: Sequence[bytes | None]
    positions: Sequence[int]
    stream: str
    shard: str
    newest_epoch_ms: int | None = None
    columns: Mapping[str, pa.Array] = field(default_factory=dict)

    def beside(self, names: Sequence[str]) -> pa.RecordBatch:
        """Return the named columns, one row per record."""
        return pa.RecordBatch.from_arrays([self.columns[name] for name in names], names=list(names))


@dataclass(frozen=True, slots=True)
class StreamShape:
    """The columns that a stream's records become.

    Args:
        payload: the column that holds the payload if the script declares no columns.
        added: the columns beside the payload, as in `RawBatch.columns`.
        decoding: how the worker decodes each payload, into columns that are declared or that the records tell; None
            leaves the payload as it is.
        classification: format of the payload in lower case; empty if the script gives none.
        rejects_path: the folder for records that cannot become rows of a DataFrame; None stands for one below the
            checkpoint.
        on_malformed: what happens to records that cannot be read as rows.
        record_columns: those of `added` whose names no field of a payload may have, each with what it holds.
    """

    payload: pa.Field
    added: pa.Schema
    decoding: DeclaredPayload | GrowingPayload | None = None
    classification: str = ""
    rejects_path: str | None = None
    on_malformed: OnMalformed = OnMalformed.KEEP
    record_columns: tuple[tuple[str, str], ...] = ()

    @property
    def declared(self) -> DeclaredPayload | None:
        """The columns that the script declares; None if it declares none."""
        return cast("DeclaredPayload", self.decoding) if hasattr(self.decoding, "schema") else None

    @property
    def growing(self) -> GrowingPayload | None:
        """How records tell their columns; None if columns are declared, or if they are inferred from JSON."""
        return None if hasattr(self.decoding, "schema") else self.decoding


@dataclass(frozen=True, slots=True)
class OriginalRecord:
    """A record as its source holds it.

    Args:
        value: the payload; None where the source has a key and no value.
        stream: topic or stream.
        shard: partition or shard.
        position: its offset.
        epoch_ms: its time stamp; None where the source has none.
        key: its key, if it has one.
        headers: in order; names may repeat.
    """

    value: bytes | None
    stream: str
    shard: str
    position: int
    epoch_ms: int | None = None
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A complete file that no reader sees yet.

    Args:
        staged: the file's present path, relative to the table's root.
        final: the path to which publishing moves it, relative to the table's root.
        size_bytes: its length.
        rows: number of records in it; rejected records if `rejects`.
        crc32: zlib CRC-32 of its bytes.
        rejects: True for a file of rejected records.
        encoding: what a reader must know besides the bytes, see `gluepot.connectors.files.contracts`.
    """

    staged: str
    final: str
    size_bytes: int
    rows: int
    crc32: int
    rejects: bool = False
    encoding: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MissingFields:
    """Fields that a step asks for, and that have no value in any record.

    Args:
        wanted: as the script names them.
        names: the columns with values that the step does not ask for.
        null: those of `wanted` that are columns of some records, with nulls only.
        rows: how many records were checked.
        optional: those of `wanted` that a step removes, so that records may well lack them.
    """

    wanted: frozenset[str]
    names: frozenset[str] = frozenset()
    null: frozenset[str] = frozenset()
    rows: int = 0
    optional: frozenset[str] = frozenset()

    def and_in(self, other: MissingFields) -> MissingFields:
        """Return the fields that have no value in these records and in other ones."""
        wanted = self.wanted & other.wanted
        return MissingFields(
            wanted,
            self.names | other.names,
            (self.null | other.null) & wanted,
            self.rows + other.rows,
            (self.optional | other.optional) & wanted,
        )

    def or_of(self, other: MissingFields) -> MissingFields:
        """Return the fields that have no value here or there; `other` is of another step over the same records."""
        required = (self.wanted - self.optional) | (other.wanted - other.optional)
        return MissingFields(
            self.wanted | other.wanted,
            self.names | other.names,
            self.null | other.null,
            max(self.rows, other.rows),
            (self.optional | other.optional) - required,
        )


@dataclass(frozen=True, slots=True)
class ManifestPart:
    """What one task reports: its staged files, its input, and counts of records in and out.

    Args:
        files: staged files, data and rejects.
        ranges: the input of the task; empty if the input came through a DataFrame.
        schema: Arrow schema of the rows as written (IPC bytes), or None when nothing was written.
        rows_in: records read.
        rows_out: records written.
        rows_put: how many of them are in a store of documents, and hence in no file.
        rows_dropped: records that steps such as Filter left out.
        rejected_in_read: how many of the rejected records could not be read as rows; the others failed later.
        rejected_as_rows: how many of those that could not be read became rows again, by `errorsAsDynamicFrame`.
        kept_aside: rejected records that are in no file of the write, and that the batch keeps elsewhere.
        left_out_in_read: records that could not be read as rows and are not kept, because the job says so.
        bytes_in: payload bytes read.
        rejected: number of rejected records, by reason.
        phase_secs: seconds spent by phase: fetch, parse, transform, write.
        newest_epoch_ms: newest record time stamp per shard.
        source_schema: Arrow schema of the records as parsed, before transforms (IPC bytes); None if they are not the
            records of a stream's own batch. The stream's sticky schema grows from it.
        columns: what the task adds to the table's columns, in the sink's own form; None if the sink does not track
            columns.
        untyped: columns with values that are in no file because the task did not know their type, in the sink's form.
        untyped_values: how many values are in no file for that reason, by field.
        measured: what steps of the pipeline have measured, by their names.
        misfits: how many values became null because they are not of the type that a script declares, by field.
        missing: the fields without values that steps ask for; None if no step asks for a field, or there is no record.
        rows_digest: digest of the rows, see `gluepot.frames.rows_digest`; None if the target does not compare rows.
        keys_digest: the same of the columns by which an upsert finds rows; None if there are none.
    """

    files: Sequence[StagedFile] = ()
    ranges: Sequence[SourceRange] = ()
    schema: bytes | None = None
    rows_in: int = 0
    rows_out: int = 0
    rows_dropped: int = 0
    rejected_in_read: int = 0
    left_out_in_read: int = 0
    kept_aside: int = 0
    bytes_in: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    phase_secs: Mapping[str, float] = field(default_factory=dict)
    newest_epoch_ms: Mapping[str, int] = field(default_factory=dict)
    source_schema: bytes | None = None
    columns: Sequence[bytes] | None = None
    untyped: Sequence[bytes] | None = None
    untyped_values: Mapping[str, int] = field(default_factory=dict)
    measured: Mapping[str, Any] = field(default_factory=dict)
    misfits: Mapping[str, int] = field(default_factory=dict)
    missing: MissingFields | None = None
    rows_put: int = 0
    rejected_as_rows: int = 0
    rows_digest: int | None = None
    keys_digest: int | None = None


@dataclass(frozen=True, order=True, slots=True)
class CommitKey:
    """The key that identifies one write of one batch in its target for ever. It never contains a job's name.

    Args:
        query_id: Spark's own query id, from the checkpoint; for a job with bookmarks, its id in the ledger.
        batch_id: number of the micro-batch; for a job with bookmarks the number of its run.
        ctx: which write to the target, see `write_label`.
        target: distinguishes targets that share one place: a folder of rejects, or the table of commits in a database.
            Equality ignores it, because a record in a table's own folder belongs to that table wherever the folder is
            moved.
    """

    query_id: str
    batch_id: int
    ctx: str
    target: str = field(default="", compare=False)


_ORDINAL = re.compile(r"\.[0-9]+$")


def write_label(transformation_ctx: str, nth: int) -> str:
    """Return the name of the n-th write that a batch makes to one target under one `transformation_ctx`.

    Different arguments give different names: `sink` and 2 give `sink.2`, so a ctx whose own name is `sink.2` gives
    `sink.2.1`.

    Args:
        transformation_ctx: as the script gives it; may be empty.
        nth: counted from 1.
    """
    name = transformation_ctx or "write"
    return name if nth == 1 and not _ORDINAL.search(name) else f"{name}.{nth}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything that one write publishes, at once or not at all.

    Args:
        key: the commit key of the write.
        parts: one per task; none before the tasks have run.
        ranges: the ranges of the micro-batch to which the write belongs. If parts have ranges of their own, those are
            more exact.
        offsets_digest: text that is equal for equal input, for a foreign source without ranges.
        token: the driver's token, see `Lease`; 0 if no other driver can use the key, as in a batch job.
        work: text that is equal only if the same steps are applied to the input, see `gluepot.engine.pipeline.work_of`.
            Empty if the key alone determines the steps.
        previous: the batch of the query's previous write to the same target under the same ctx; -1 if this is the
            first, None if the previous batch is not tracked.
        mode: what the write does with existing rows; empty if the target is not a database.
        actions: text that is equal for equal keys of an upsert and equal statements of the script around the write.
        rejects_root: URL of the folder with those rejected records of the batch that no table keeps; empty if there may
            be none.
    """

    key: CommitKey
    parts: Sequence[ManifestPart] = ()
    ranges: Sequence[SourceRange] = ()
    offsets_digest: str = ""
    token: int = 0
    work: str = ""
    previous: int | None = None
    mode: str = ""
    actions: str = ""
    rejects_root: str = ""

    @property
    def rows_digest(self) -> str:
        """Text that is equal only if equal rows were written in the same way; empty if a task has no digest."""
        rows = _sum_of([part.rows_digest for part in self.parts])
        return f"{self.mode} {rows} {self.actions}".strip() if rows else ""

    @property
    def keys_digest(self) -> str:
        """The same for the columns by which an upsert finds rows."""
        return _sum_of([part.keys_digest for part in self.parts])

    @property
    def input_ranges(self) -> Sequence[SourceRange]:
        """The ranges that were read, coalesced."""
        return coalesced([one for part in self.parts for one in part.ranges] or self.ranges)


def _sum_of(digests: Sequence[int | None]) -> str:
    from gluepot.frames.rows_digest import MODULUS  # noqa: PLC0415  it loads Arrow's functions, which planning does not need

    known = [digest for digest in digests if digest is not None]
    return f"{sum(known) % MODULUS:016x}" if known and len(known) == len(digests) else ""


@dataclass(frozen=True, slots=True)
class Committed:
    """The manifest now exists. `files` are the final paths of data files, `rejects` of files with rejected records."""

    files: Sequence[str]
    rows: int
    rejects: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AlreadyCommitted:
    """A manifest with the same key and the same ranges existed already; nothing was changed."""

    files: Sequence[str]
    rows: int
    rejects: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A record to send.

    Args:
        value: the payload; None for a key without a value, if the target allows such records.
        key: decides the partition; None lets the target choose.
        headers: in order, names may repeat; for targets that have headers.
        topic: the topic to send to, for a sink without a fixed target.
        partition: partition of the topic; None lets the key decide.
    """

    value: bytes | None
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()
    topic: str | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class RecordShape:
    """Which columns of a row make up the record to send.

    Args:
        key_column: the column whose value is the key; None for the column `key` of a row that has the columns of a
            record.
        classification: format of the payload. A row that has a column `value` and otherwise only `key`, `topic`,
            `partition` and `headers` is a record already, and its value is sent as it is.
    """

    key_column: str | None = None
    classification: str = "json"


# It is not frozen, which would make its construction, once for each row, three times as slow.
@dataclass(slots=True)
class Document:
    """A row for a store that keeps each document under an id; it is never changed.

    Args:
        id: text of 32 hexadecimal digits that a repetition of the batch gives to the same row again; a store uses it
            where the row brings no key of its own.
        fields: the row's values, without those that are null: numbers, text, bytes, `Decimal`, `date`, `datetime`,
            lists, and dicts for structs and maps.
    """

    id: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A document that a store does not take, however often it is sent.

    Args:
        index: which of the documents that were given, counted from 0.
        reason: a short fixed word, fit for a metric's label.
        message: one sentence, with what the store said.
    """

    index: int
    reason: str
    message: str


def dump_errors(errors: Sequence[ErrorRecord]) -> pa.RecordBatch:
    """Return error records as the Arrow table that `_rejects` files hold.

    Columns: raw binary, stream string, shard string, position string, reason string, message string.
    """
    return pa.RecordBatch.from_pydict(
        {
            "raw": pa.array([e.raw for e in errors], pa.binary()),
            "stream": pa.array([e.at.stream for e in errors], pa.string()),
            "shard": pa.array([e.at.shard for e in errors], pa.string()),
            "position": pa.array([e.at.position for e in errors], pa.string()),
            "reason": pa.array([e.reason for e in errors], pa.string()),
            "message": pa.array([e.message for e in errors], pa.string()),
        },
    )


def coalesced(ranges: Iterable[SourceRange]) -> list[SourceRange]:
    """Return the same records in as few ranges as possible, sorted. Overlapping ranges stay apart.

    How a batch is cut into tasks depends on the machine, but its records do not. Empty ranges are left out.
    """
    joined: list[SourceRange] = []
    for one in sorted(one for one in ranges if one.start < one.end):
        last = joined[-1] if joined else None
        if last is not None and replace(last, start=0, end=0) == replace(one, start=0, end=0) and last.end == one.start:
            joined[-1] = last.piece(last.start, one.end)
        else:
            joined.append(one)
    return joined


def ranges_digest(ranges: Iterable[SourceRange]) -> str:
    """Return the canonical text of a set of ranges: equal text means equal input, however it was cut."""
    plain = [replace(one, proof="").to_json() for one in coalesced(ranges)]
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))
