"""Keeps alarms and their history in the service's database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, delete, func, insert, select

from gluepot.service.alarms.decisions import Alarm
from gluepot.service.store.rows import save_named
from gluepot.service.store.tables import alarm_history, alarms


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """What happened to an alarm.

    Args:
        number: its place in the order of all; 0 if it is new.
        alarm: the alarm's name.
        at_ms: when, in milliseconds since 1970.
        kind: `ConfigurationUpdate` or `StateUpdate`.
        summary: for people.
        data: the same as JSON.
    """

    number: int
    alarm: str
    at_ms: int
    kind: str
    summary: str
    data: str


class AlarmRows:
    """Alarms and their history, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, name: str) -> Alarm | None:
        """Return an alarm; None if there is none of this name."""
        query = select(alarms).where(alarms.c.name == name).with_for_update()
        row = self._connection.execute(query).mappings().first()
        return None if row is None else _alarm(row)

    def some(self, after: str, most: int, prefix: str = "") -> list[Alarm]:
        """Return alarms in the order of their names.

        Args:
            after: the name that precedes the first one.
            most: the largest number of alarms.
            prefix: only alarms whose names begin so.
        """
        query = select(alarms).where(alarms.c.name > after).order_by(alarms.c.name).limit(most)
        if prefix:
            query = query.where(func.substr(alarms.c.name, 1, len(prefix)) == prefix)  # SQLite's LIKE ignores case
        return [_alarm(row) for row in self._connection.execute(query).mappings()]

    def count(self) -> int:
        """Return how many alarms there are."""
        return int(self._connection.execute(select(func.count()).select_from(alarms)).scalar_one())

    def due(self, now_ms: int, most: int) -> list[str]:
        """Return the names of alarms to evaluate now, the longest overdue first."""
        query = select(alarms.c.name).where(alarms.c.next_ms <= now_ms).order_by(alarms.c.next_ms).limit(most)
        return list(self._connection.execute(query).scalars())

    def save(self, alarm: Alarm) -> None:
        """Save an alarm, in the place of one of the same name."""
        row = {
            "definition": json.dumps(alarm.definition),
            "configured_ms": alarm.configured_ms,
            "state": alarm.state,
            "reason": alarm.reason,
            "reason_data": alarm.reason_data,
            "state_ms": alarm.state_ms,
            "transitioned_ms": alarm.transitioned_ms,
            "next_ms": alarm.next_ms,
        }
        save_named(self._connection, alarms, alarm.name, row)

    def delete(self, name: str) -> None:
        """Delete an alarm. Its history stays, as on AWS."""
        self._connection.execute(delete(alarms).where(alarms.c.name == name))

    def note(self, item: HistoryItem) -> None:
        """Add to the history."""
        row = {
            "alarm": item.alarm,
            "at_ms": item.at_ms,
            "kind": item.kind,
            "summary": item.summary,
            "data": item.data,
        }
        self._connection.execute(insert(alarm_history).values(row))

    def history(
        self,
        most: int,
        *,
        alarm: str = "",
        kind: str = "",
        begin_ms: int = 0,
        end_ms: int | None = None,
        after: int | None = None,
        oldest_first: bool = False,
    ) -> Sequence[HistoryItem]:
        """Return what happened.

        Args:
            most: the largest number of items.
            alarm: only of this alarm; empty for all.
            kind: only items of this kind; empty for all.
            begin_ms: only items from then on.
            end_ms: only items before then; None for no limit.
            after: the number of the item that precedes the first one.
            oldest_first: instead of the newest first.
        """
        rows = alarm_history.c
        query = select(alarm_history).where(rows.at_ms >= begin_ms).limit(most)
        query = query.order_by(rows.number if oldest_first else rows.number.desc())
        if alarm:
            query = query.where(rows.alarm == alarm)
        if kind:
            query = query.where(rows.kind == kind)
        if end_ms is not None:
            query = query.where(rows.at_ms < end_ms)
        if after is not None:
            query = query.where(rows.number > after if oldest_first else rows.number < after)
        return [HistoryItem(**row) for row in self._connection.execute(query).mappings()]

    def forget_history(self, before_ms: int) -> None:
        """Remove what happened before a moment."""
        self._connection.execute(delete(alarm_history).where(alarm_history.c.at_ms < before_ms))


def _alarm(row: RowMapping) -> Alarm:
    return Alarm(**{**row, "definition": json.loads(row["definition"])})
