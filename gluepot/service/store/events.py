"""Keeps rules, events that wait for triggers, and events to deliver in the service's database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update

from gluepot.service.events.batches import Waiting
from gluepot.service.events.delivery import Delivery
from gluepot.service.events.rules import Rule
from gluepot.service.store.rows import save_named
from gluepot.service.store.tables import deliveries, rules, told_changes, waiting_events


class EventRows:
    """Rules, waiting events and deliveries, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rule(self, name: str) -> Rule | None:
        """Return a rule; None if there is none of this name."""
        query = select(rules).where(rules.c.name == name).with_for_update()
        row = self._connection.execute(query).mappings().first()
        return None if row is None else _rule(row)

    def rules(self) -> list[Rule]:
        """Return all rules in the order of their names."""
        return [_rule(row) for row in self._connection.execute(select(rules).order_by(rules.c.name)).mappings()]

    def has_rules(self) -> bool:
        """Return whether there is any rule."""
        return self._connection.execute(select(rules.c.name).limit(1)).first() is not None

    def save_rule(self, rule: Rule) -> None:
        """Save a rule, in the place of one of the same name."""
        row = {
            "definition": json.dumps(rule.definition),
            "targets": json.dumps(rule.targets),
            "created_ms": rule.created_ms,
            "modified_ms": rule.modified_ms,
        }
        save_named(self._connection, rules, rule.name, row)

    def delete_rule(self, name: str) -> None:
        """Delete a rule."""
        self._connection.execute(delete(rules).where(rules.c.name == name))

    def keep_for(self, trigger: str, event: Mapping[str, Any], now_ms: int) -> None:
        """Keep an event until it fires a trigger."""
        row = {"trigger": trigger, "event": json.dumps(event), "at_ms": now_ms}
        self._connection.execute(insert(waiting_events).values(row))

    def waiting(self) -> dict[str, list[Waiting]]:
        """Return the events that wait, the oldest first, by the triggers for which they wait."""
        found: dict[str, list[Waiting]] = {}
        for row in self._connection.execute(select(waiting_events).order_by(waiting_events.c.number)).mappings():
            one = Waiting(row["number"], json.loads(row["event"]), row["at_ms"])
            found.setdefault(row["trigger"], []).append(one)
        return found

    def forget(self, events: Iterable[Waiting]) -> None:
        """Remove events that have fired their trigger."""
        numbers = [one.number for one in events]
        self._connection.execute(delete(waiting_events).where(waiting_events.c.number.in_(numbers)))

    def deliver(self, place: str, body: Mapping[str, Any], now_ms: int) -> None:
        """Have something sent to a place: a URL, or a topic of SNS."""
        row = {"url": place, "body": json.dumps(body), "since_ms": now_ms, "next_ms": now_ms, "attempts": 0}
        self._connection.execute(insert(deliveries).values(row))

    def due(self, now_ms: int, most: int) -> list[Delivery]:
        """Return deliveries to try now, the oldest first; on PostgreSQL none that another transaction holds."""
        query = select(deliveries).where(deliveries.c.next_ms <= now_ms).order_by(deliveries.c.number).limit(most)
        rows = self._connection.execute(query.with_for_update(skip_locked=True)).mappings()
        return [Delivery(**row) for row in rows]

    def pending(self) -> tuple[int, int]:
        """Return how many deliveries there are, and when the oldest one's event happened; 0 if there is none."""
        query = select(func.count(), func.coalesce(func.min(deliveries.c.since_ms), 0))
        number, since_ms = self._connection.execute(query).one()
        return number, since_ms

    def put_off(self, delivery: Delivery) -> None:
        """Save when a delivery is tried next, and how often it was."""
        values = {"next_ms": delivery.next_ms, "attempts": delivery.attempts}
        self._connection.execute(update(deliveries).where(deliveries.c.number == delivery.number).values(values))

    def delivered(self, delivery: Delivery) -> None:
        """Remove a delivery that is done, or given up."""
        self._connection.execute(delete(deliveries).where(deliveries.c.number == delivery.number))

    def told(self, ids: Sequence[str]) -> set[str]:
        """Return which of some changes of the catalog, or messages of queues, were told."""
        query = select(told_changes.c.id).where(told_changes.c.id.in_(ids))
        return set(self._connection.execute(query).scalars())

    def note_told(self, ids: Iterable[str], now_ms: int) -> None:
        """Note that changes of the catalog, or messages of queues, were told."""
        if rows := [{"id": one, "at_ms": now_ms} for one in ids]:
            self._connection.execute(insert(told_changes), rows)

    def forget_told(self, before_ms: int) -> None:
        """Forget which changes and messages were told before a moment."""
        self._connection.execute(delete(told_changes).where(told_changes.c.at_ms < before_ms))


def _rule(row: RowMapping) -> Rule:
    return Rule(
        row["name"], json.loads(row["definition"]), json.loads(row["targets"]), row["created_ms"], row["modified_ms"]
    )
