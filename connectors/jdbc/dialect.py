"""How databases differ in what planning says to them, for those that only Spark's JDBC source reaches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from gluepot.connectors.jdbc.keys import Family
from gluepot.connectors.jdbc.sql import Bound
from gluepot.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Dialect:
    """A database's ways.

    Args:
        opening: before a quoted name.
        closing: after it; doubled within.
        remainder: SQL for the remainder of a division, with `{0}` and `{1}`.
        hashed: a whole number computed of a column, with `{0}`; None where only `hashexpression` does it.
    """

    opening: str = '"'
    closing: str = '"'
    remainder: str = "MOD({0}, {1})"
    hashed: str | None = None

    def quoted(self, name: str) -> str:
        """Return a name in any letter case."""
        return f"{self.opening}{name.replace(self.closing, self.closing * 2)}{self.closing}"


_DIALECTS = {
    "mysql": Dialect("`", "`", hashed="CRC32(CAST({0} AS CHAR))"),
    "mariadb": Dialect("`", "`", hashed="CRC32(CAST({0} AS CHAR))"),
    "sqlserver": Dialect("[", "]", remainder="({0} % {1})", hashed="CHECKSUM({0})"),
    "oracle": Dialect(hashed="ORA_HASH({0})"),
    "postgresql": Dialect(hashed="hashtextextended({0}::text, 0)"),
    "redshift": Dialect(hashed="CHECKSUM({0})"),
}


def dialect_of(vendor: str) -> Dialect:
    """Return the ways of a database; of an unknown one those of the standard."""
    return _DIALECTS.get(vendor, Dialect())


def literal(bound: Bound) -> str:
    """Return a value within a statement, for a driver that Spark hands no values to bind.

    Dates and times are JDBC's own escapes, which every driver translates. The type of the value says what it may be; a
    number that is none, say, never gets into the text.

    Raises:
        ConfigError: a text holds what some database would take for more than a character.
    """
    match Family(bound.type):
        case Family.NUMBER:
            return format(Decimal(bound.text), "f")
        case Family.DATE:
            return f"{{d '{date.fromisoformat(bound.text).isoformat()}'}}"
        case Family.TIMESTAMP:
            return f"{{ts '{datetime.fromisoformat(bound.text).isoformat(' ', 'microseconds')}'}}"
        case Family.OTHER:
            if "\\" in bound.text or not bound.text.isprintable():
                raise ConfigError(
                    f"The bookmark key {bound.text!r} cannot be given to every database as it is; use a key of numbers,"
                    " dates or time stamps."
                )
            doubled = bound.text.replace("'", "''")
            return f"'{doubled}'"


def as_text(value: object) -> str:
    """Return a value of a key as bookmarks keep it."""
    if isinstance(value, datetime):
        return value.isoformat(" ", "microseconds")
    return value.isoformat() if isinstance(value, date) else str(value)
