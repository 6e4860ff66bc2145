"""Tables of DynamoDB: their items tell the columns (docs/glue 11.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from gluepot.crawl.schemas import catalog_columns, merged
from gluepot.crawl.settings import DynamodbTarget
from gluepot.crawl.tables import Counts
from gluepot.crawl.values import FileKind, FoundRelation, FoundTable

DYNAMODB = "dynamodb"
SAMPLED_ITEMS = 1_000


@dataclass(frozen=True, slots=True)
class Scanned:
    """A table of DynamoDB.

    Args:
        description: `Table` of DescribeTable.
        schema: the merged schema of the items.
    """

    description: Mapping[str, Any]
    schema: pa.Schema


Scan = Callable[[DynamodbTarget], Scanned | None]
"""Returns the table of a target; None if it is not there."""


def scan(target: DynamodbTarget) -> Scanned | None:
    """Ask DynamoDB for a table and its items; see `Scan`.

    Raises:
        ConfigError: the table may not be read.
        TransientError: DynamoDB does not answer.
    """
    from gluepot.connectors.aws.errors import NotThere  # noqa: PLC0415  few crawls have such targets
    from gluepot.connectors.dynamodb.settings import read_settings  # noqa: PLC0415  as above
    from gluepot.connectors.dynamodb.source import table_read  # noqa: PLC0415  as above
    from gluepot.connectors.dynamodb.store import described  # noqa: PLC0415  as above

    options = {"dynamodb.input.tableName": target.table, "dynamodb.throughput.read.percent": str(target.scan_rate)}
    settings = read_settings(options)
    try:
        description = described(settings.table)
    except NotThere:
        return None
    read = table_read(settings, description)
    batches = (chunk.batch for split in read.splits for chunk in read.source.read(split))
    return Scanned(description, merged(batch.schema for batch in (batches if target.scans_all else sample(batches))))


def sample(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches until they have as many items as a sample."""
    items = 0
    for batch in batches:
        yield batch
        items += batch.num_rows
        if items >= SAMPLED_ITEMS:
            return


def is_table(target: DynamodbTarget, arn: str) -> bool:
    """Tell whether a target means the table of an ARN."""
    return arn == target.table or arn.rpartition("/")[2] == target.table


def found_items(scanned: Scanned) -> FoundTable:
    """Return a table as a crawl has found it."""
    told = scanned.description
    keys = {one["KeyType"]: one["AttributeName"] for one in told.get("KeySchema", ())}
    there = Counts(size_bytes=int(told.get("TableSizeBytes", 0)), records=int(told.get("ItemCount", 0)))
    parameters = {
        **there.sizes,
        **({"hashKey": keys["HASH"]} if "HASH" in keys else {}),
        **({"rangeKey": keys["RANGE"]} if "RANGE" in keys else {}),
    }
    columns = catalog_columns(scanned.schema, by_place=False)
    relation = FoundRelation("", told["TableArn"], columns, name=told["TableName"], parameters=parameters)
    return FoundTable(DYNAMODB, "", "", FileKind(DYNAMODB, schema=scanned.schema), relation=relation)
