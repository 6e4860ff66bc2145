"""What is told of changes of the Data Catalog. Pure (docs/glue 11.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gluepot.catalog.values import Change
from gluepot.service.events.envelopes import News

MOST_NAMES = 100
"""How many tables or partitions an event names at most."""


def news_of(change: Change, arn: Callable[[str, str], str]) -> Iterator[News]:
    """Yield what is told of a change: more than one event if it concerns more names than an event takes.

    Args:
        change: the change.
        arn: returns the ARN of a resource, given its kind and its name.
    """
    for first in range(0, max(len(change.names), 1), MOST_NAMES):
        names = list(change.names[first : first + MOST_NAMES])
        if change.table:
            # Not an ARN of a table: the guide's example has it so.
            resources = [arn("database", f"{change.database}/{change.table}")]
            about = {"databaseName": change.database, "changedPartitions": names, "tableName": change.table}
            kind = "Glue Data Catalog Table State Change"
        else:
            tables = [arn("table", f"{change.database}/{name}") for name in names]
            resources = tables or [arn("database", change.database)]
            about = {"databaseName": change.database, "changedTables": names}
            kind = "Glue Data Catalog Database State Change"
        yield News(kind, {**about, "typeOfChange": change.operation}, resources=resources, at_ms=change.at_ms)
