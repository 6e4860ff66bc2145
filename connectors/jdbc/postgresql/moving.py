"""Moves staged rows into the table, and finds the value that the server refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import cast

from gluepot.connectors.jdbc.postgresql.columns import quoted
from gluepot.connectors.jdbc.postgresql.errors import ValueRefused
from gluepot.connectors.jdbc.postgresql.session import Session
from gluepot.connectors.jdbc.postgresql.target import TargetColumn
from gluepot.connectors.jdbc.staging import ORDINAL
from gluepot.connectors.values import StagedFile
from gluepot.core.errors import ConfigError, EtlError

_MOST_SHOWN = 100
# The driver cannot go on after an error of a statement, so the server catches it.
_SAID = """
CREATE FUNCTION pg_temp.gluepot_said(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN NULL;
EXCEPTION WHEN data_exception OR check_violation THEN
  RETURN sqlerrm;
END $$"""


@dataclass(frozen=True, slots=True)
class Moved:
    """The rows of a write and the columns that they fill.

    Args:
        table: the table, as it is quoted.
        schema: its schema, likewise; the staging tables lie there.
        fields: the table's column for each column of the frame.
        staged: the staged rows.
    """

    table: str
    schema: str
    fields: Mapping[str, TargetColumn]
    staged: Sequence[StagedFile]

    def insert(self) -> str:
        """Return the statement that appends the rows."""
        return f"{self._into} SELECT {self._listed} FROM ({self._rows}) AS staged ORDER BY {ORDINAL}"

    def upsert(self, keys: Sequence[str]) -> str:
        """Return the statement that replaces rows by key, of which the last one counts.

        Args:
            keys: the frame's columns of the key.
        """
        by = ", ".join(map(quoted, keys))
        newest = f"SELECT DISTINCT ON ({by}) {self._listed} FROM ({self._rows}) AS staged ORDER BY {by}, {ORDINAL} DESC"
        others = [quoted(column.name) for field, column in self.fields.items() if field not in keys]
        change = f"DO UPDATE SET {', '.join(f'{one} = excluded.{one}' for one in others)}" if others else "DO NOTHING"
        return (
            f"{self._into} {newest} ON CONFLICT ({', '.join(quoted(self.fields[key].name) for key in keys)}) {change}"
        )

    def place(self, staged: StagedFile) -> str:
        """Return the name of a staging table for a statement."""
        return f"{self.schema}.{staged.staged}"

    def value(self, field: str, staged: StagedFile) -> str | None:
        """Return the SQL of a column's value in a staging table; None if it has a null in every row."""
        kind = staged.encoding["types"].get(field)
        return None if kind is None else self.fields[field].value(field, kind, self.table)

    @property
    def _into(self) -> str:
        return f"INSERT INTO {self.table} ({', '.join(quoted(column.name) for column in self.fields.values())})"

    @property
    def _listed(self) -> str:
        return ", ".join(map(quoted, self.fields))

    @property
    def _rows(self) -> str:
        selects = []
        for one in self.staged:
            values = [
                f"{self.value(field, one) or f'NULL::{column.type}'} AS {quoted(field)}"
                for field, column in self.fields.items()
            ]
            selects.append(f"SELECT {', '.join(values)}, {ORDINAL} FROM {self.place(one)}")
        return " UNION ALL ".join(selects)


def require_unchanged_keys(session: Session, moved: Moved, keys: Sequence[str]) -> None:
    """Check that every row has a key, and that no column changes its value.

    An upsert that is repeated would add rows without a key again. Two keys that are rounded to the same value would
    become one row.

    Raises:
        ConfigError: a row has no key, or the column of its key takes no such value, or rounds or cuts it.
    """
    for one in moved.staged:
        for field in keys:
            column, kind = moved.fields[field], one.encoding["types"].get(field)
            moved.value(field, one)  # refuses a type that the column does not take
            name = quoted(field)
            if not column.needs_value:
                lacking = "" if kind is None else f" WHERE {name} IS NULL"
                ((rows,),) = session.rows(f"SELECT count(*) FROM {moved.place(one)}{lacking}")
                if rows:
                    raise ConfigError(
                        f"{rows} rows for {moved.table} have a null in {column.name}, by which an upsert finds rows;"
                        " fill it, or filter these rows out."
                    )
            changed = column.changes(field, kind) if kind is not None else ""
            found = (
                session.rows(f"SELECT {name}::text FROM {moved.place(one)} WHERE {changed} LIMIT 1") if changed else []
            )
            if found:
                raise ConfigError(
                    f"Column {column.name} of {moved.table} is a key of the upsert and of type {column.declared}, which"
                    f" would change {_shown(found[0][0])} and could make two keys one; cast or correct the field, or"
                    " change the column."
                )


@contextmanager
def naming_values(session: Session, moved: Moved) -> Iterator[None]:
    """Add the column and the value to an error of the server that names neither.

    Raises:
        ConfigError: the server refuses a value.
    """
    try:
        yield
    except ValueRefused as error:
        if (found := _refused(session, moved)) is None:
            raise ConfigError(f"Rows for {moved.table} were refused, and none is written. {error}") from error
        column, value, said = found
        raise ConfigError(
            f"Column {column.name} of {moved.table} is of type {column.declared} and cannot hold {_shown(value)}:"
            f" {said}; nothing is written. Correct the value, or change the column."
        ) from error


def _refused(session: Session, moved: Moved) -> tuple[TargetColumn, object, str] | None:
    """Return the first column with a value that the server refuses, the value, and what the server says.

    The transaction has failed, so this begins another one, which is rolled back as well. In it each column is put into
    a table of its own.
    """
    with suppress(EtlError):
        session.begin_again()
        session.run(_SAID)
        for nth, (field, column) in enumerate(moved.fields.items()):
            probe = f"{moved.schema}.{moved.staged[0].staged}_{nth}"
            session.run(f"CREATE TABLE {probe} AS SELECT {quoted(column.name)} FROM {moved.table} LIMIT 0")
            for one in moved.staged:
                value = moved.value(field, one)
                said = _said(session, probe, f"{value} FROM {moved.place(one)}") if value else None
                if said is not None:
                    return column, *_first(session, moved.place(one), probe, field, str(value), said)
    return None


def _first(session: Session, staged: str, probe: str, field: str, value: str, said: str) -> tuple[object, str]:
    """Return a refused value of a staged column and what the server says, by halving the rows that have one."""
    ((low, high),) = session.rows(f"SELECT min({ORDINAL}), max({ORDINAL}) FROM {staged}")
    first, last = cast("int", low), cast("int", high)
    while first < last:
        middle = (first + last) // 2
        found = _said(session, probe, f"{value} FROM {staged} WHERE {ORDINAL} BETWEEN {first} AND {middle}")
        first, last, said = (first, middle, found) if found is not None else (middle + 1, last, said)
    found = _said(session, probe, f"{value} FROM {staged} WHERE {ORDINAL} = {first}")
    ((text,),) = session.rows(f"SELECT {quoted(field)}::text FROM {staged} WHERE {ORDINAL} = {first}")
    return text, found or said


def _said(session: Session, probe: str, selected: str) -> str | None:
    """Return what the server says against values of a column; None if it takes them."""
    ((said,),) = session.rows_bound(
        "SELECT pg_temp.gluepot_said($1) AS said", [f"INSERT INTO {probe} SELECT {selected}"]
    )
    return None if said is None else str(said)


def _shown(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")
