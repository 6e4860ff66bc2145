"""Chooses and sorts tables, as SearchTables does. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gluepot.catalog.values import Table
from gluepot.service.errors import invalid

_COMPARES: Mapping[str, Callable[[Any, Any], bool]] = {
    "EQUALS": operator.eq,
    "GREATER_THAN": operator.gt,
    "LESS_THAN": operator.lt,
    "GREATER_THAN_EQUALS": operator.ge,
    "LESS_THAN_EQUALS": operator.le,
}
_MOST_CRITERIA = 100
_TIMES = {"createtime": "created_ms", "updatetime": "updated_ms"}
_TEXTS: Mapping[str, Callable[[Table], str]] = {
    "name": lambda table: table.name,
    "databasename": lambda table: table.database,
    "description": lambda table: str(table.body.get("Description") or ""),
    "owner": lambda table: str(table.body.get("Owner") or ""),
    "tabletype": lambda table: str(table.body.get("TableType") or ""),
    "location": lambda table: table.storage.location,
}


def search(
    tables: Sequence[Table], text: str, filters: Sequence[Mapping[str, str]], order: Sequence[Mapping[str, str]]
) -> list[Table]:
    """Return the tables that match, in order.

    Args:
        tables: to choose from.
        text: words that occur in a table's names, texts and parameters, or one phrase in quotes for a value that is
            equal; empty for all tables.
        filters: `Filters`; all must hold. A key that is no member of a table is the name of a parameter.
        order: `SortCriteria`; by database and name if there is none.

    Raises:
        ServiceError: `InvalidInputException` for a time that is none, a member that tables cannot be sorted by, or more
            than 100 filters.
    """
    for member, given in (("Filters", filters), ("SortCriteria", order)):
        if len(given) > _MOST_CRITERIA:
            raise invalid(f"{member} has {len(given)} entries; give at most {_MOST_CRITERIA}.")
    checks = [_check(one) for one in filters]
    found = [table for table in tables if _has(table, text) and all(check(table) for check in checks)]
    found.sort(key=lambda table: (table.database, table.name))
    for one in order:
        found.sort(key=_sort_key(one.get("FieldName", "")), reverse=one.get("Sort") == "DESC")
    return found


def _has(table: Table, text: str) -> bool:
    told = [one.lower() for one in _told(table)]
    wanted = text.strip().lower()
    if len(wanted) > 1 and wanted[0] == wanted[-1] == '"':
        return wanted[1:-1] in told
    return all(any(word in one for one in told) for word in wanted.split())


def _told(table: Table) -> Iterator[str]:
    yield from (of(table) for of in _TEXTS.values())
    for column in (*table.storage.columns, *table.partition_keys):
        yield column.name
        yield column.comment
    for name, value in table.parameters.items():
        yield name
        yield value


def _check(given: Mapping[str, str]) -> Callable[[Table], bool]:
    key, value = given.get("Key", ""), given.get("Value", "")
    compares = _COMPARES[given.get("Comparator", "EQUALS")]
    if (attribute := _TIMES.get(key.lower())) is not None:
        at_ms = _ms(key, value)
        return lambda table: compares(getattr(table, attribute), at_ms)
    if (text := _TEXTS.get(key.lower())) is not None:
        return lambda table: compares(text(table).lower(), value.lower())
    return lambda table: key in table.parameters and compares(table.parameters[key], value)


def _ms(key: str, value: str) -> int:
    try:
        if value.isdecimal():
            return int(value) * 1000
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise invalid(f"The filter {key} has the value {value!r}; give seconds since 1970, or ISO text.") from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _sort_key(member: str) -> Callable[[Table], Any]:
    if (attribute := _TIMES.get(member.lower())) is not None:
        return operator.attrgetter(attribute)
    if (text := _TEXTS.get(member.lower())) is not None:
        return text
    raise invalid(f"SortCriteria names {member!r}; use one of Name, DatabaseName, CreateTime, UpdateTime.")
