"""The part of a database that is read: a table by name, or a query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.core.errors import ConfigError, did_you_mean

_OPEN_END = re.compile(r"\s+(where|and)\s*;?\s*$", re.IGNORECASE)
# Texts, names and comments as a whole, then what matters outside of them. A backslash hides a quote in some databases.
_TOKENS = re.compile(
    r"""'(?:[^'\\]|''|\\.)*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/|/\*|[();'"`]""", re.DOTALL
)
_FORBIDDEN = {"'", '"', "`", "/*", ";"}  # an opening quote that nothing closes, or another statement
_IN_BRACKETS = re.compile(r"\s*\((?P<query>.*)\)\s*(?:as\s+)?\w*\s*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view.

    Args:
        name: as the script has it: `schema.table`, quoted or not.
        where: the script's own condition for its rows, in the SQL of the database; empty for all rows.
    """

    name: str
    where: str = ""

    def shown(self, name: str) -> str:
        """Return its name for messages and bookmarks: two conditions are two sources.

        Args:
            name: as the database has it.
        """
        return f"{name} WHERE {self.where}" if self.where else name

    def source(self, name: str) -> str:
        """Return what is written after FROM. The condition cannot reach beyond its brackets."""
        return _selected(name, self.where) + " gluepot_query" if self.where else name


@dataclass(frozen=True, slots=True)
class Query:
    """A statement whose rows are read."""

    text: str


def _selected(source: str, where: str) -> str:
    # The line break ends a comment of the script's.
    return f"(SELECT * FROM {source} WHERE ({where}\n))"


def condition_of(value: object) -> str:
    """Return the condition of `pushDownPredicate`; empty without one.

    `true` and `false` are Spark's own switch of that name, which changes no result.

    Raises:
        ConfigError: it is not one condition, because its brackets or quotes do not match, or it has a semicolon.
    """
    text = str(value if value is not None else "").strip()
    if text.lower() in {"", "true", "false"}:
        return ""
    if not _is_one_condition(text):
        raise ConfigError(
            f"pushDownPredicate is {text!r}; give one condition in the SQL of the database, such as"
            " \"created_at >= '2026-06-01'\", with brackets and quotes that match and without a semicolon."
        )
    return text


def _is_one_condition(text: str) -> bool:
    depth = 0
    for match in _TOKENS.finditer(text):
        token = match[0]
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth < 0 or token in _FORBIDDEN:
            return False
    return depth == 0


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
    """Read `dbtable`, `query` or `sampleQuery`, and `pushDownPredicate`.

    Glue wants a partitioned `sampleQuery` to end with `where` or `and`, so that it can append to it (docs/glue 5.7); we
    put the query in brackets instead and leave that word out.

    Raises:
        ConfigError: none of them is given, or more than one; or the predicate is not a condition.
    """
    where = condition_of(options.get("pushDownPredicate"))
    table = str(options.get("dbtable") or options.get("tableName") or "").strip()
    given = [str(options[name]) for name in ("query", "sampleQuery") if options.get(name)]
    if table.startswith("(") and (found := _IN_BRACKETS.fullmatch(table)):
        table, given = "", [*given, found["query"]]
    if len(given) > 1 or (table and options.get("query")):
        raise ConfigError("The read has more than one of dbtable, query and sampleQuery; leave all but one out.")
    if given:
        text = _OPEN_END.sub("", given[0]).rstrip().removesuffix(";").strip()
        return Query(f"SELECT * FROM ({text}) gluepot_rows WHERE ({where}\n)" if where else text)
    if not table:
        raise ConfigError(
            "The read has neither dbtable nor query; give connection_options={'dbtable': 'schema.table'}."
        )
    return Table(table, where)
