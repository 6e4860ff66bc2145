"""Names of tables and columns as Redshift reads them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gluepot.core.errors import ConfigError

_PART = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^\s."]+))\s*(\.|$)')


def name_parts(name: str) -> tuple[str, str]:
    """Return schema and table of a name; the schema is empty if the name has none.

    Redshift turns names to lower case, also quoted ones, unless the session asks otherwise.

    Raises:
        ConfigError: the name has another form than `table`, `schema.table` or `database.schema.table`.
    """
    parts: list[str] = []
    at = 0
    while at < len(name) and (found := _PART.match(name, at)):
        parts.append((found[1] or found[2]).replace('""', '"').lower())
        at = found.end()
        if not found[3]:
            break
    if at < len(name) or name.rstrip().endswith(".") or len(parts) not in {1, 2, 3}:
        raise ConfigError(f"dbtable is {name!r}; use schema.table.")
    return (parts[-2] if len(parts) > 1 else ""), parts[-1]


def quoted(name: str) -> str:
    """Return a quoted name."""
    return '"' + name.replace('"', '""') + '"'


def match(name: str, columns: Sequence[str], table: str) -> str:
    """Return the column of a table that a field belongs to; letter case does not matter if that is unambiguous.

    Raises:
        ConfigError: there is none.
    """
    alike = [name] if name in columns else [one for one in columns if one.lower() == name.lower()]
    if len(alike) != 1:
        raise ConfigError(
            f"{table} has no column {name!r}; it has {', '.join(columns)}. Add the column, or drop or rename the field."
        )
    return alike[0]


def require_distinct(names: Sequence[str], table: str) -> None:
    """Check that no two fields differ in letter case only.

    Raises:
        ConfigError: two do.
    """
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.setdefault(name.lower(), name)) != name:
            raise ConfigError(
                f"The fields {other!r} and {name!r} are one column for Redshift, which ignores letter case; drop or"
                f" rename one of them before the write to {table}."
            )
