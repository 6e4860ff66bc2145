"""Reads a table by a parallel scan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.aws.clients import aws_client, explained
from gluepot.connectors.contracts import BatchRead
from gluepot.connectors.documents.bulk import BACKOFF_CAP_SECS, DEADLINE_SECS
from gluepot.connectors.documents.reading import chunk_of
from gluepot.connectors.dynamodb.capacity import Budget, units_per_sec
from gluepot.connectors.dynamodb.export import export_read
from gluepot.connectors.dynamodb.items import row_of
from gluepot.connectors.dynamodb.settings import ReadSettings, read_settings
from gluepot.connectors.dynamodb.store import described
from gluepot.connectors.options import ScriptOptions
from gluepot.core.clock import SystemClock
from gluepot.core.retries import attempts
from gluepot.frames.chunk import Chunk

_DEFAULT_READ_UNITS = 1.0


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of a scan that one task makes.

    Args:
        number: which segment, counted from 0.
        size_bytes: size of the part, by the table's last count, which DynamoDB renews every six hours.
    """

    number: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class DynamodbSource:
    """A `BatchSource` over a table.

    Args:
        settings: of the read.
        units_per_sec: read capacity that a task may use; None for no limit.
        guarantee: see `BatchSource`.
    """

    settings: ReadSettings
    units_per_sec: float | None
    guarantee: str = "each item that is in the table all the time, once; changes during the scan may be seen or not"

    def read(self, split: Segment) -> Iterator[Chunk]:
        """Yield a page of the scan at a time, at most 1 MB."""
        budget, table = Budget(self.units_per_sec, SystemClock()), self.settings.table
        asked: dict[str, Any] = {
            "TableName": table.name,
            "Segment": split.number,
            "TotalSegments": self.settings.splits,
            "ConsistentRead": self.settings.is_consistent,
            "ReturnConsumedCapacity": "TOTAL",
        }
        while True:
            page = budget.spend(lambda: self._page(asked))
            if page["Items"]:
                yield chunk_of([row_of(item) for item in page["Items"]], table.where)
            if not page.get("LastEvaluatedKey"):
                return
            asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def _page(self, asked: Mapping[str, Any]) -> tuple[float, Mapping[str, Any]]:
        table, page = self.settings.table, dict[str, Any]()
        for attempt in attempts(DEADLINE_SECS, BACKOFF_CAP_SECS):
            with attempt, explained(table.where):
                page = aws_client("dynamodb", table.address).scan(**asked)
        return page.get("ConsumedCapacity", {}).get("CapacityUnits", _DEFAULT_READ_UNITS), page


def dynamodb_read(options: Mapping[str, Any]) -> BatchRead:
    """Return the read for a script's options.

    Raises:
        ConfigError: an option is missing or wrong, or the table is not there.
        PermanentError: an export failed.
        TransientError: DynamoDB does not answer.
    """
    if ScriptOptions(options).text("dynamodb.export"):
        return export_read(options)
    settings = read_settings(options)
    return table_read(settings, described(settings.table))


def table_read(settings: ReadSettings, table: Mapping[str, Any]) -> BatchRead:
    """Return the read of a table.

    Args:
        settings: of the read.
        table: `Table` of DescribeTable.
    """
    size_bytes = int(table.get("TableSizeBytes", 0)) // settings.splits
    splits = tuple(Segment(number, size_bytes) for number in range(settings.splits))
    return BatchRead(DynamodbSource(settings, units_per_sec(table, "Read", settings.share, settings.splits)), splits)
