"""Writes rows to a table: each is put under its key, so that a repetition changes nothing."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from gluepot.connectors.aws.clients import aws_client, explained
from gluepot.connectors.documents.bulk import Answer, Entry, Limits, send_all
from gluepot.connectors.dynamodb.capacity import Budget, units_per_sec
from gluepot.connectors.dynamodb.items import NoAttribute, item_of
from gluepot.connectors.dynamodb.keys import Keys, newest
from gluepot.connectors.dynamodb.settings import TableAddress, WriteSettings, write_settings
from gluepot.connectors.values import Document, Refusal
from gluepot.core.clock import SystemClock
from gluepot.core.datasets import Dataset

_LIMITS = Limits(entries=25, size_bytes=16 << 20)
_ITEM_BYTES = 400 << 10
"""The largest item, which is also what an entry counts for: 25 of them fit into a call."""
BAD_KEY, BAD_VALUE = "bad_key", "bad_value"


@dataclass(frozen=True)
class DynamodbStore:
    """A `DocumentStore` over a table.

    Args:
        settings: of the write.
        guarantee: see `DocumentStore`.
    """

    settings: WriteSettings
    guarantee: str = "each row once, by the table's key; of rows with one key in a partition, the last one remains"

    @property
    def place(self) -> str:
        """See `DocumentStore`."""
        table = self.settings.table
        return " ".join(filter(None, ["dynamodb", table.address.endpoint, table.address.region, table.name]))

    @property
    def dataset(self) -> Dataset:
        """See `DocumentStore`."""
        return Dataset(f"dynamodb://{self.settings.table.address.region or 'default'}", self.settings.table.name)

    def check(self) -> None:
        """See `DocumentStore`."""
        described(self.settings.table)

    def put(self, documents: Sequence[Document]) -> list[Refusal]:
        """See `DocumentStore`."""
        keys, budget = _opened(self.settings)
        refused: list[Refusal] = []
        good: list[tuple[int, dict[str, Any]]] = []
        for at, document in enumerate(documents):
            try:
                item = item_of(document.fields)
            except NoAttribute as wrong:
                refused.append(Refusal(at, BAD_VALUE, f"{self.settings.table.where} cannot hold it: {wrong}."))
                continue
            if fault := keys.fault(item):
                refused.append(Refusal(at, BAD_KEY, f"{self.settings.table.where} cannot hold it: {fault}."))
                continue
            good.append((at, item))
        left = newest(keys, [item for _, item in good])
        entries = [Entry(at, item, _ITEM_BYTES) for at, item in (good[one] for one in left)]
        refused += send_all(
            entries,
            lambda part: budget.spend(lambda: self._send(part, keys)),
            _LIMITS,
            self.settings.table.where,
            SystemClock(),
            random.Random().random,  # noqa: S311  for jitter
        )
        return sorted(refused, key=lambda one: one.index)

    def _send(self, part: Sequence[Entry[dict[str, Any]]], keys: Keys) -> tuple[float, Answer[dict[str, Any]]]:
        """Make one call; return the capacity units that it has used, and what is left."""
        table = self.settings.table
        requests = [{"PutRequest": {"Item": one.body}} for one in part]
        with explained(table.where):
            answer = aws_client("dynamodb", table.address).batch_write_item(
                RequestItems={table.name: requests}, ReturnConsumedCapacity="TOTAL"
            )
        units = sum(one.get("CapacityUnits", 0.0) for one in answer.get("ConsumedCapacity", ()))
        left = {keys.of_item(one["PutRequest"]["Item"]) for one in answer["UnprocessedItems"].get(table.name, ())}
        return units, Answer([one for one in part if keys.of_item(one.body) in left], said="it was throttled")


def dynamodb_store(options: Mapping[str, Any]) -> DynamodbStore:
    """Return the store for a script's options.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    return DynamodbStore(write_settings(options))


def described(table: TableAddress) -> Mapping[str, Any]:
    """Return `Table` of DescribeTable.

    Raises:
        ConfigError: there is no such table, or it may not be used.
        TransientError: DynamoDB does not answer.
    """
    with explained(table.where):
        found: Mapping[str, Any] = aws_client("dynamodb", table.address).describe_table(TableName=table.name)["Table"]
    return found


@cache
def _opened(settings: WriteSettings) -> tuple[Keys, Budget]:
    """Return what this process knows of a table. A table that is created anew with another key ends the job."""
    table = described(settings.table)
    return Keys.of(table), Budget(units_per_sec(table, "Write", settings.share, settings.tasks), SystemClock())
