"""Keeps triggers and their firings in the service's database."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, insert, select
from sqlalchemy.exc import IntegrityError

from gluepot.service.decisions.triggers import Trigger, TriggerState
from gluepot.service.store.rows import save_named
from gluepot.service.store.tables import firings, triggers


class TriggerRows:
    """Triggers and their firings, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, name: str) -> Trigger | None:
        """Return a trigger; None if there is none of this name."""
        # The lock keeps what others change meanwhile from being lost on PostgreSQL; SQLite has one writer anyway.
        query = select(triggers).where(triggers.c.name == name).with_for_update()
        row = self._connection.execute(query).mappings().first()
        return None if row is None else _trigger(row)

    def all(self) -> list[Trigger]:
        """Return all triggers in the order of their names."""
        return [
            _trigger(row) for row in self._connection.execute(select(triggers).order_by(triggers.c.name)).mappings()
        ]

    def some(self, after: str, most: int) -> list[Trigger]:
        """Return triggers in the order of their names.

        Args:
            after: the name that comes before the first one.
            most: the largest number of triggers.
        """
        query = select(triggers).where(triggers.c.name > after).order_by(triggers.c.name).limit(most)
        return [_trigger(row) for row in self._connection.execute(query).mappings()]

    def next_ones(self, most: int) -> list[Trigger]:
        """Return the triggers whose schedules fire next, the first one first."""
        query = select(triggers).where(triggers.c.next_ms.is_not(None))
        query = query.order_by(triggers.c.next_ms, triggers.c.name).limit(most)
        return [_trigger(row) for row in self._connection.execute(query).mappings()]

    def of_workflow(self, workflow: str) -> list[Trigger]:
        """Return the triggers of a workflow in the order of their names; with an empty text those outside of all."""
        query = select(triggers).where(triggers.c.workflow == workflow).order_by(triggers.c.name)
        return [_trigger(row) for row in self._connection.execute(query).mappings()]

    def due(self, now_ms: int) -> list[Trigger]:
        """Return the triggers whose time has come."""
        query = select(triggers).where(triggers.c.next_ms <= now_ms).order_by(triggers.c.next_ms, triggers.c.name)
        return [_trigger(row) for row in self._connection.execute(query).mappings()]

    def save(self, trigger: Trigger) -> None:
        """Save a trigger, in the place of one of the same name."""
        save_named(self._connection, triggers, trigger.name, _columns(trigger))

    def delete(self, name: str) -> None:
        """Delete a trigger. Its firings stay: runs of its workflow that have begun go on with it."""
        self._connection.execute(delete(triggers).where(triggers.c.name == name))

    def delete_firings(self, before_ms: int, but: Collection[str]) -> None:
        """Forget firings before a moment, in milliseconds since 1970, but for some occasions."""
        self._connection.execute(delete(firings).where(firings.c.at_ms < before_ms, firings.c.occasion.not_in(but)))

    def note_firing(self, name: str, occasion: str, now_ms: int) -> bool:
        """Note that a trigger fires; return False if it has fired on this occasion before.

        Args:
            name: the trigger's name.
            occasion: a time of its schedule, a chain, or a call.
            now_ms: milliseconds since 1970.
        """
        try:
            with self._connection.begin_nested():
                self._connection.execute(insert(firings).values(trigger=name, occasion=occasion, at_ms=now_ms))
        except IntegrityError:
            return False
        return True


def _trigger(row: RowMapping) -> Trigger:
    return Trigger(
        row["name"],
        row["workflow"],
        TriggerState(row["state"]),
        json.loads(row["definition"]),
        row["created_ms"],
        row["modified_ms"],
        row["next_ms"],
    )


def _columns(trigger: Trigger) -> dict[str, Any]:
    return {
        "workflow": trigger.workflow,
        "state": trigger.state.value,
        "definition": json.dumps(trigger.definition),
        "created_ms": trigger.created_ms,
        "modified_ms": trigger.modified_ms,
        "next_ms": trigger.next_ms,
    }
