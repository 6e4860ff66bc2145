"""The columns of a table that is written, and how staged columns become values of them. Pure, but for one query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from gluepot.connectors.jdbc.postgresql.columns import quoted
from gluepot.connectors.jdbc.postgresql.session import Session
from gluepot.connectors.jdbc.postgresql.stored import JSON, TEXT
from gluepot.connectors.jdbc.staging import UNTYPED_LIST
from gluepot.core.errors import ConfigError

# A domain has the type below it, and an array of a domain the array of that type. Types are without their length, as a
# cast to a type with a length cuts what is longer, where an assignment refuses it. The names of types that may be
# assigned to a column are in `pg_cast`.
_COLUMNS = """
WITH RECURSIVE typed AS (
  SELECT attnum, attname, atttypid, atttypmod, attnotnull, atttypid AS base, false AS is_array,
    coalesce(to_jsonb(a)->>'attidentity', '') || coalesce(to_jsonb(a)->>'attgenerated', '') <> '' AS fills_itself
  FROM pg_attribute a WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT attnum, attname, atttypid, atttypmod, attnotnull,
    CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.typelem END, is_array OR t.typtype <> 'd', fills_itself
  FROM typed JOIN pg_type t ON t.oid = base LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
  WHERE t.typtype = 'd' OR e.typtype = 'd')
SELECT attname::text AS name, format_type(atttypid, atttypmod) AS declared,
  format_type(CASE WHEN is_array THEN t.typarray ELSE t.oid END, -1) AS type,
  is_array OR t.typcategory = 'A' AS is_list, t.typcategory = 'S' AS is_text, attnotnull AS needs_value, fills_itself,
  coalesce((SELECT string_agg(s.typname, ',') FROM pg_cast c JOIN pg_type s ON s.oid = c.castsource
    WHERE c.castcontext IN ('i', 'a') AND c.casttarget = CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE t.oid END),
    '') || ',' || coalesce((SELECT typname FROM pg_type e WHERE t.typcategory = 'A' AND e.oid = t.typelem), t.typname)
    AS sources
FROM typed JOIN pg_type t ON t.oid = base LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
WHERE t.typtype <> 'd' AND coalesce(e.typtype, '') <> 'd' ORDER BY attnum
"""
_WHOLE = {"int2", "int4", "int8"}
_TIMES = {"date", "timestamp", "timestamptz"}
_JSON = {"json", "jsonb"}
_ROUNDED = {*_WHOLE, *_TIMES, "numeric", "float4", "float8"}
# For a type of a column, the staged types whose values it holds unchanged, or refuses.
_EXACT = {
    "smallint": _WHOLE,
    "integer": _WHOLE,
    "bigint": _WHOLE,
    "numeric": {*_WHOLE, "numeric"},
    "real": {"int2", "float4"},
    "double precision": {"int2", "int4", "float4", "float8"},
    "date": {"date"},
    "timestamp without time zone": _TIMES,
    "timestamp with time zone": _TIMES,
}


@dataclass(frozen=True, slots=True)
class TargetColumn:
    """A column of the table that is written.

    Args:
        name: its name.
        declared: its type with its length, digits or domain, such as `character varying(3)`.
        type: the same type without them, such as `character varying`.
        is_list: whether it is an array.
        is_text: whether values of any type may be assigned to it, as text.
        needs_value: whether it takes no null.
        fills_itself: whether the server numbers or computes it.
        sources: types of which values may be assigned to it, or of elements of arrays; they include its own.
    """

    name: str
    declared: str
    type: str
    is_list: bool = False
    is_text: bool = False
    needs_value: bool = False
    fills_itself: bool = False
    sources: frozenset[str] = frozenset()

    def takes(self, staged: str) -> bool:
        """Whether values of a staged column may be assigned to it; a text is read as the server reads a literal."""
        element, is_list = staged.removesuffix("[]"), staged.endswith("[]")
        if self.is_text or staged in {TEXT, JSON} or (is_list and self.type in _JSON):
            return True
        if staged == UNTYPED_LIST:
            return self.is_list
        return is_list == self.is_list and (element == TEXT or element.partition("(")[0] in self.sources)

    def value(self, field: str, staged: str, table: str) -> str:
        """Return the SQL of a staged column's value, which the INSERT assigns to the column.

        The INSERT itself applies length and digits, by the server's own rules.

        Args:
            field: the staged column.
            staged: its type.
            table: the table, for the message.

        Raises:
            ConfigError: the server assigns no values of the staged type to this column.
        """
        if not self.takes(staged):
            raise ConfigError(
                f"Column {self.name} of {table} is of type {self.declared}, and the frame's column {field} is of type"
                f" {staged}, which PostgreSQL does not assign to it; cast the field to a type that fits, or to string."
            )
        if staged == UNTYPED_LIST and self.is_list:
            return f"translate({quoted(field)}, '[]', '{{}}')::{self.type}"
        if staged.endswith("[]") and staged != UNTYPED_LIST and self.type in _JSON:
            return f"to_jsonb({quoted(field)})::{self.type}"
        return f"{quoted(field)}::{self.type}"

    def changes(self, field: str, staged: str) -> str:
        """Return the condition for staged values that the column changes: by rounding, or cutting spaces at the end.

        Empty if there are none. Such values may be distinct in the frame and equal in the table.
        """
        value = f"{quoted(field)}::{self.type}"
        kind = staged.partition("(")[0]
        conditions = []
        if self.declared != self.type:
            conditions.append(f"{value} IS DISTINCT FROM {value}::{self.declared}")
        if kind in _ROUNDED and not self.is_text and kind not in _EXACT.get(self.type, ()):
            conditions.append(f"{quoted(field)} IS DISTINCT FROM {value}::{staged}")
        return " OR ".join(conditions)


def target_columns(session: Session, table: str) -> Mapping[str, TargetColumn]:
    """Return the columns of a table, given as it is quoted, by name."""
    found = {}
    for name, declared, kind, is_list, is_text, needs_value, fills_itself, sources in session.rows_bound(
        _COLUMNS, [table]
    ):
        found[str(name)] = TargetColumn(
            str(name),
            str(declared),
            str(kind),
            bool(is_list),
            bool(is_text) and not is_list,
            bool(needs_value),
            bool(fills_itself),
            frozenset(cast("str", sources).split(",")),
        )
    return found
