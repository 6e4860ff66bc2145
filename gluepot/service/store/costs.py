"""Keeps what the runs of jobs cost, by day, job and tags, in the service's database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from gluepot.service.decisions.costs import DayCost
from gluepot.service.store.tables import costs


class CostRows:
    """What runs cost, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, cost: DayCost) -> None:
        """Add to what is known of the day, the job and its tags. No other service may add at the same time."""
        tags = json.dumps(cost.tags, sort_keys=True)
        key = {"day": cost.day, "job": cost.job, "tags_digest": hashlib.sha256(tags.encode()).hexdigest()}
        row = costs.c
        same = [row[name] == value for name, value in key.items()]
        more = {
            "runs": row.runs + cost.runs,
            "dpu_secs": row.dpu_secs + cost.dpu_secs,
            "usd": row.usd + cost.usd,
        }
        if not self._connection.execute(update(costs).where(*same).values(more)).rowcount:
            first = {"tags": tags, "runs": cost.runs, "dpu_secs": cost.dpu_secs, "usd": cost.usd}
            self._connection.execute(insert(costs).values({**key, **first}))

    def since(self, day: int) -> Sequence[DayCost]:
        """Return what runs cost that ended on a day or later, the oldest first."""
        query = select(costs).where(costs.c.day >= day).order_by(costs.c.day, costs.c.job)
        return [_cost(row) for row in self._connection.execute(query).mappings()]

    def first_day(self) -> int | None:
        """Return the first day of which anything is known; None if there is none."""
        query = select(costs.c.day).order_by(costs.c.day).limit(1)
        day = self._connection.execute(query).scalar()
        return None if day is None else int(day)

    def forget(self, before_day: int) -> None:
        """Remove what runs cost before a day."""
        self._connection.execute(delete(costs).where(costs.c.day < before_day))


def _cost(row: RowMapping) -> DayCost:
    return DayCost(row["day"], row["job"], json.loads(row["tags"]), row["runs"], row["dpu_secs"], row["usd"])
