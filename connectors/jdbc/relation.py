"""The part of a database that is read: a table by name, or a query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.core.errors import ConfigError, did_you_mean

_OPEN_END = re.compile(r"\s+(where|and)\s*;?\s*$", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\s*\((?P<query>.*)\)\s*(?:as\s+)?\w*\s*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view, named as the script does: `schema.table`, quoted or not."""

    name: str


@dataclass(frozen=True, slots=True)
class Query:
    """A statement whose rows are read."""

    text: str


def find_column(wanted: str, option: str, names: Sequence[str], relation: str) -> str:
    """Return a column's name in the database; another letter case is accepted if only one column matches.

    Args:
        wanted: the name in the script.
        option: the option that gives the name.
        names: names of all columns.
        relation: the table or query that has the columns.

    Raises:
        ConfigError: there is no such column.
    """
    alike = [wanted] if wanted in names else [name for name in names if name.lower() == wanted.lower()]
    if len(alike) == 1:
        return alike[0]
    known = ", ".join(names)
    raise ConfigError(f"{option} names the column {wanted!r}; {relation} has {known}.{did_you_mean(wanted, names)}")


def read_relation(options: Mapping[str, Any]) -> Table | Query:
    """Read `dbtable`, `query` or `sampleQuery`.

    Glue wants a partitioned `sampleQuery` to end with `where` or `and`, so that it can append to it (docs/glue 5.7); we
    put the query in brackets instead and leave that word out.

    Raises:
        ConfigError: none of them is given, or more than one.
    """
    table = str(options.get("dbtable") or options.get("tableName") or "").strip()
    given = [str(options[name]) for name in ("query", "sampleQuery") if options.get(name)]
    if table.startswith("(") and (found := _IN_BRACKETS.fullmatch(table)):
        table, given = "", [*given, found["query"]]
    if len(given) > 1 or (table and options.get("query")):
        raise ConfigError("The read has more than one of dbtable, query and sampleQuery; leave all but one out.")
    if given:
        return Query(_OPEN_END.sub("", given[0]).rstrip().removesuffix(";").strip())
    if not table:
        raise ConfigError(
            "The read has neither dbtable nor query; give connection_options={'dbtable': 'schema.table'}."
        )
    return Table(table)
