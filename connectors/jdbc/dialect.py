"""The SQL dialects of databases that only Spark's JDBC source reaches, as far as planning needs them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from gluepot.connectors.jdbc.keys import Family
from gluepot.connectors.jdbc.sql import Bound
from gluepot.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Dialect:
    """The SQL dialect of a database.

    Args:
        opening: the character before a quoted name.
        closing: the character after a quoted name; it is doubled inside the name.
        remainder: SQL for the remainder of a division, with `{0}` and `{1}`.
        hashed: SQL that computes an integer from a column, with `{0}`; None if the script has to give
            `hashexpression`.
    """

    opening: str = '"'
    closing: str = '"'
    remainder: str = "MOD({0}, {1})"
    hashed: str | None = None

    def quoted(self, name: str) -> str:
        """Return a quoted name, which keeps its letter case."""
        return f"{self.opening}{name.replace(self.closing, self.closing * 2)}{self.closing}"


_DIALECTS = {
    "mysql": Dialect("`", "`", hashed="CRC32(CAST({0} AS CHAR))"),
    "mariadb": Dialect("`", "`", hashed="CRC32(CAST({0} AS CHAR))"),
    "sqlserver": Dialect("[", "]", remainder="({0} % {1})", hashed="CHECKSUM({0})"),
    "oracle": Dialect(hashed="ORA_HASH({0})"),
    "postgresql": Dialect(hashed="hashtextextended({0}::text, 0)"),
    "redshift": Dialect(hashed="CHECKSUM({0})"),
    "h2": Dialect(hashed="ORA_HASH(CAST({0} AS VARCHAR))"),
}


def dialect_of(vendor: str) -> Dialect:
    """Return the dialect of a database; standard SQL for an unknown one."""
    return _DIALECTS.get(vendor, Dialect())


def literal(bound: Bound) -> str:
    """Return a value as a literal in a statement, because Spark cannot bind values for a driver.

    Dates and times are written as JDBC escapes, which every driver translates. The value is parsed as its type first,
    so that the statement never contains, for example, a number that is not one.

    Raises:
        ConfigError: a text contains a character that has a special meaning in some database.
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
    """Return a value of a key in the form that bookmarks store."""
    if isinstance(value, datetime):
        return value.isoformat(" ", "microseconds")
    return value.isoformat() if isinstance(value, date) else str(value)
