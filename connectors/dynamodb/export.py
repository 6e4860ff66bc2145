"""Reads a table through DynamoDB's own export to S3, which uses none of the table's read capacity."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import uuid4

from gluepot.connectors.aws.clients import ADDRESS_OPTIONS, aws_client, explained
from gluepot.connectors.contracts import BatchRead
from gluepot.connectors.dynamodb.settings import ROLE_OPTIONS, TableAddress, table_address
from gluepot.connectors.options import ScriptOptions
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.errors import ConfigError, PermanentError, TransientError
from gluepot.core.logging import get_logger
from gluepot.core.storage import open_storage
from gluepot.frames.chunk import Chunk
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.transforms.ddb_json import SimplifyDdbJson, UnnestDdbJson

OPTIONS = (
    "dynamodb.export", "dynamodb.tableArn", "dynamodb.s3.bucket", "dynamodb.s3.prefix", "dynamodb.s3.bucketOwner",
    "dynamodb.unnestDDBJson", "dynamodb.simplifyDDBJson", "dynamodb.region", *ROLE_OPTIONS, *ADDRESS_OPTIONS,
)  # fmt: skip
EXPORT, EXISTING = "ddb", "s3"
_FIRST_POLL_SECS, _POLL_SECS, _DEADLINE_SECS = 0.1, 30.0, 12 * 3600.0
_LINES_A_CHUNK = 4096

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """One export.

    Args:
        table: the table; None to read an export that is there already.
        arn: ARN of the table; empty likewise.
        bucket: bucket of the export.
        prefix: folder in it, without a slash at its end; may be empty.
        owner: account that owns the bucket; empty for the caller's.
        unnest: whether maps become fields with dotted names.
        simplify: whether typed values become plain ones.
    """

    table: TableAddress | None
    arn: str
    bucket: str
    prefix: str
    owner: str
    unnest: bool
    simplify: bool


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file of an export, which one task reads.

    Args:
        name: relative to the folder of the export.
        size_bytes: 0, because a listing does not tell it.
    """

    name: str
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ExportSource:
    """A `BatchSource` over the files of an export.

    Args:
        root: URL of the folder.
        unnest: see `ExportSettings`.
        simplify: see `ExportSettings`.
        guarantee: see `BatchSource`.
    """

    root: str
    unnest: bool
    simplify: bool
    guarantee: str = "each item as it was at one moment, once"

    def read(self, split: ExportedFile) -> Iterator[Chunk]:
        """Yield the items of a file."""
        step = UnnestDdbJson() if self.unnest else SimplifyDdbJson() if self.simplify else None
        decoder, at = JsonDecoder(), 0
        with open_storage(self.root).reader(split.name) as content, gzip.open(content) as lines:
            while some := [line.rstrip(b"\n") for line in islice(lines, _LINES_A_CHUNK)]:
                chunk = decoder.decode(some, range(at, at + len(some)), split.name, "")
                at += len(some)
                yield chunk if step is None else step(chunk)


def export_settings(options: Mapping[str, Any]) -> ExportSettings:
    """Check the options of a read through an export.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    given = ScriptOptions(options)
    given.warn_unknown(OPTIONS)
    kind = given.text("dynamodb.export").lower()
    if kind not in {EXPORT, EXISTING}:
        raise ConfigError(f"dynamodb.export is {kind!r}; use {EXPORT!r}, or {EXISTING!r} for an export that exists.")
    unnest, simplify = (given.flag(f"dynamodb.{name}DDBJson", default=False) for name in ("unnest", "simplify"))
    if unnest and simplify:
        raise ConfigError("dynamodb.unnestDDBJson and dynamodb.simplifyDDBJson are both set; use one of them.")
    bucket = given.text("dynamodb.s3.bucket")
    if not bucket:
        raise ConfigError("dynamodb.s3.bucket is missing; name the bucket that takes the export.")
    table = table_address(given, "dynamodb.tableArn") if kind == EXPORT else None
    return ExportSettings(
        table,
        given.text("dynamodb.tableArn") if table else "",
        bucket,
        given.text("dynamodb.s3.prefix").strip("/"),
        given.text("dynamodb.s3.bucketOwner"),
        unnest,
        simplify,
    )


def export_read(options: Mapping[str, Any]) -> BatchRead:
    """Return the read of a table through an export, which has ended when this returns.

    Raises:
        ConfigError: an option is wrong, or the export may not be made.
        PermanentError: the export failed.
        TransientError: DynamoDB does not answer, or the export has not ended within twelve hours.
    """
    settings = export_settings(options)
    folder = settings.prefix
    if settings.table is not None:
        folder = f"{folder}/{uuid4().hex}".lstrip("/")
        _export(settings, settings.table, folder, SystemClock())
    root = f"s3://{settings.bucket}/{folder}".rstrip("/")
    splits = tuple(ExportedFile(name) for name in open_storage(root).list("") if is_data(name))
    return BatchRead(ExportSource(root, settings.unnest, settings.simplify), splits)


def is_data(name: str) -> bool:
    """Return whether a file of an export has items, and is not one of its manifests."""
    folder, _, file = name.rpartition("/")
    return folder.rpartition("/")[2] == "data" and file.endswith(".gz")


def _export(settings: ExportSettings, table: TableAddress, folder: str, clock: Clock) -> None:
    client = aws_client("dynamodb", table.address)
    owner = {"S3BucketOwner": settings.owner} if settings.owner else {}
    with explained(table.where):
        told = client.export_table_to_point_in_time(
            TableArn=settings.arn, S3Bucket=settings.bucket, S3Prefix=folder, ExportFormat="DYNAMODB_JSON", **owner
        )["ExportDescription"]
    log.info("export_began", table=table.name, export=told["ExportArn"], folder=f"s3://{settings.bucket}/{folder}")
    deadline, wait_secs = clock.monotonic() + _DEADLINE_SECS, _FIRST_POLL_SECS
    while told["ExportStatus"] == "IN_PROGRESS":
        if clock.monotonic() > deadline:
            raise TransientError(f"The export {told['ExportArn']} has not ended in twelve hours.")
        clock.sleep(wait_secs)
        wait_secs = min(2 * wait_secs, _POLL_SECS)
        with explained(table.where):
            told = client.describe_export(ExportArn=told["ExportArn"])["ExportDescription"]
    if told["ExportStatus"] != "COMPLETED":
        raise PermanentError(
            f"The export of {table.where} to s3://{settings.bucket}/{folder} failed"
            f" ({told.get('FailureCode')}: {told.get('FailureMessage')}); check the bucket and its policy."
        )
