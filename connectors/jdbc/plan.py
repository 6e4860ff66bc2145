"""Plans which rows a run reads, from the state of the database and the state after the run before.

new         rows after the last row of the run before, up to the row that is newest now
late        rows within the overlap window before that last row that the run before did not see: an open transaction
            had not committed them, or they were inserted below the mark
read again  rows that the run before did see, but that have the same key as a late row

The newest row is fixed when the run plans, and later rows are left for the next run. So a bookmark never claims more
than was read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from gluepot.connectors.jdbc.keys import Family, Key, Row
from gluepot.connectors.jdbc.settings import HashPartitions, RangePartitions
from gluepot.connectors.jdbc.sql import Sql, all_of, any_of, sql
from gluepot.connectors.jdbc.state import JdbcState, digest_of, digests_of
from gluepot.core.errors import ConfigError

_LATE_KEYS_PER_QUERY = 200
_ENDLESS = {"infinity", "-infinity", "inf", "-inf", "nan"}
_FLOATS = {"float4", "float8", "real", "double precision", "double", "float"}


class Facts(Protocol):
    """The questions about one table or query that planning asks a database; each call is one query."""

    def quoted(self, names: Sequence[str]) -> list[str]:
        """Return names of columns, quoted for a statement."""

    def newest(self, key: Key, where: Sql) -> Row | None:
        """Return the key of the last row in the key's order; None if there is no row."""

    def count(self, where: Sql) -> int:
        """Return the number of rows."""

    def keys(self, key: Key, where: Sql) -> list[tuple[Row, int]]:
        """Return every key that occurs, with its number of rows."""


class Relation(Facts, Protocol):
    """A table or query that can be read with a bookmark."""

    @property
    def name(self) -> str:
        """Its name in messages and bookmarks."""

    @property
    def primary_key(self) -> Sequence[str]:
        """Names of the primary key's columns; empty if there is no primary key, or it is not known."""

    def key(self, names: Sequence[str], *, descending: bool) -> Key:
        """Return the named columns as a key; raise ConfigError if a column does not exist."""

    def cuts(self, partitions: HashPartitions | RangePartitions | None) -> list[Sql]:
        """Return conditions that divide the rows among tasks; none for one task. Raises ConfigError as `key` does."""


@dataclass(frozen=True, slots=True)
class JdbcPlan:
    """The rows that a run reads from a table with a bookmark key.

    Args:
        relation: the table's name in the database, or the query.
        key: the bookmark key.
        after: the row at which the run before ended; None for the first run.
        upto: the row at which this run ends; None if there are no rows at all.
        rows: number of new rows at the time of planning.
        late: keys of late rows, with the number of rows that each key has now.
        reread_rows: how many of those rows were already read before.
        window_from: value of the first column at which the next run's overlap window begins; None without a window.
        seen: keys in that window, with their numbers of rows.
    """

    relation: str
    key: Key
    after: Row | None
    upto: Row | None
    rows: int = 0
    late: tuple[tuple[Row, int], ...] = ()
    reread_rows: int = 0
    window_from: str | None = None
    seen: tuple[tuple[Row, int], ...] = ()

    @property
    def late_rows(self) -> int:
        """The number of rows with a key of `late`, including those that are read again."""
        return sum(count for _, count in self.late)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to read."""
        return not self.rows and not self.late

    @property
    def digest(self) -> str:
        """A text that is equal for equal input."""
        plain = [
            self.relation,
            self.key.names,
            self.key.descending,
            self.after,
            self.upto,
            self.rows,
            sorted(self.late),
        ]
        return hashlib.sha256(json.dumps(plain).encode()).hexdigest()

    def conditions(self, quoted: Sequence[str], cuts: Sequence[Sql]) -> Iterator[Sql]:
        """Yield the condition of each query; together the queries return every row of the plan once.

        Args:
            quoted: the key's columns as the database quotes them.
            cuts: conditions that divide the table among tasks; none for one task.
        """
        if self.rows and self.upto is not None:
            new = between(self.key, self.after, self.upto, quoted)
            yield from (all_of([new, cut]) for cut in cuts) if cuts else [new]
        keys = [row for row, _ in self.late]
        for first in range(0, len(keys), _LATE_KEYS_PER_QUERY):
            yield any_of(self.key.equal(row, quoted) for row in keys[first : first + _LATE_KEYS_PER_QUERY])

    def state(self, source: Mapping[str, Any]) -> JdbcState | None:
        """Return the state that the run's commit saves; None if nothing changes."""
        if self.upto is None or (self.is_idle and self.after is not None):
            return None
        rows = self.rows + self.late_rows
        seen = digests_of(self.seen)
        return JdbcState(self.relation, self.key, self.upto, self.window_from, seen, rows, source)


def between(key: Key, after: Row | None, upto: Row, quoted: Sequence[str]) -> Sql:
    """Return the condition for the rows after one row, up to and including another."""
    conditions = [] if after is None else [key.after(after, quoted)]
    return all_of([*conditions, key.upto(upto, quoted)])


def plan(facts: Facts, relation: str, key: Key, state: JdbcState | None, overlap: str | None) -> JdbcPlan:
    """Select the rows of a run.

    Args:
        facts: answers questions about the database's current state.
        relation: the table or query to read.
        key: the bookmark key.
        state: state after the run before; None for the first run.
        overlap: how far before the last row to look for late rows; None to look for none.

    Raises:
        CheckpointError: the state belongs to another table or key.
        ConfigError: the overlap does not fit the key's type.
    """
    if state is not None:
        state.require(relation, key)
    quoted = facts.quoted(key.names)
    after = state.last if state else None
    beyond = facts.newest(key, key.after(after, quoted) if after else Sql())
    upto = beyond or after
    if upto is None:
        return JdbcPlan(relation, key, None, None)
    require_finite(relation, key, upto)
    rows = facts.count(between(key, after, upto, quoted)) if beyond else 0
    if overlap is None:
        return JdbcPlan(relation, key, after, upto, rows)
    late, reread_rows = _late(facts, key, state) if state else ((), 0)
    window_from = key.window_start(upto, overlap)
    seen = _window(facts, key, window_from, upto)
    return JdbcPlan(relation, key, after, upto, rows, late, reread_rows, window_from, tuple(seen))


def require_finite(relation: str, key: Key, row: Row) -> None:
    """Check that rows can come after a row: no value of its key is infinite or NaN.

    Raises:
        ConfigError: a value is.
    """
    for column, text in zip(key.columns, row, strict=True):
        if text.lower() in _ENDLESS and (column.family is not Family.OTHER or column.type.lower() in _FLOATS):
            raise ConfigError(
                f"The bookmark key {column.name} of {relation} has the value {text!r}, after which no row would be new;"
                " leave such rows out by a query, or name another column in jobBookmarkKeys."
            )


def plan_range(facts: Facts, relation: str, key: Key, after: JdbcState | None, upto: JdbcState | None) -> JdbcPlan:
    """Select the rows between two states (`--job-bookmark-from`, `-to`), whenever the rows were committed."""
    for state in (after, upto):
        if state is not None:
            state.require(relation, key)
    start = after.last if after else None
    if upto is None or upto.last == start:
        return JdbcPlan(relation, key, start, start)
    rows = facts.count(between(key, start, upto.last, facts.quoted(key.names)))
    return JdbcPlan(relation, key, start, upto.last, rows)


def _window(facts: Facts, key: Key, start: str, end: Row) -> list[tuple[Row, int]]:
    quoted = facts.quoted(key.names)
    return facts.keys(key, all_of([key.from_first(start, quoted), key.upto(end, quoted)]))


def _late(facts: Facts, key: Key, state: JdbcState) -> tuple[tuple[tuple[Row, int], ...], int]:
    """Return the keys with more rows than the run before saw, and how many of their rows it did see."""
    found = []
    reread_rows = 0
    # Use the window of the run before, even if the overlap is longer now: it is not known which rows before that window
    # were read.
    for row, count in _window(facts, key, state.window_from, state.last) if state.window_from else []:
        before = state.seen.get(digest_of(row), 0)
        if count > before:
            found.append((row, count))
            reread_rows += before
    return tuple(found), reread_rows


def hash_cuts(hashed: str, partitions: int, remainder: str, *, whole: bool) -> list[Sql]:
    """Return conditions that divide rows by a number computed from each row; every row fulfils exactly one of them.

    Args:
        hashed: the expression; rows for which it is null belong to the first part.
        partitions: number of parts.
        remainder: the database's SQL for a remainder, such as `mod({0}, {1})`.
        whole: whether every number is an integer. A fraction belongs to the part of the integer below it, and a number
            without a remainder, such as NaN, to the last part.
    """
    if partitions == 1:
        return []
    # Take the remainder twice, because that of a negative number is negative.
    once = remainder.format(f"({hashed})", partitions)
    share = remainder.format(f"({once} + {partitions})", partitions)
    last = partitions - 1
    if whole:
        return [
            sql(f"{share} = 0 OR {share} IS NULL"),
            *(sql(f"{share} = {n}") for n in range(1, partitions)),
        ]
    middle = [sql(f"{share} >= {n} AND {share} < {n + 1}") for n in range(1, last)]
    return [sql(f"{share} < 1 OR {share} IS NULL"), *middle, sql(f"NOT ({share} < {last})")]


def range_cuts(column: str, lower: int, upper: int, partitions: int) -> list[Sql]:
    """Return conditions that divide rows by a column's value, with open ends as Spark's `numPartitions` has them.

    Args:
        column: the quoted column; rows for which it is null belong to the first part.
        lower: lower bound of the evenly divided values; smaller values belong to the first part.
        upper: upper bound of the evenly divided values; larger values belong to the last part.
        partitions: the most parts.
    """
    count = max(1, min(partitions, upper - lower))
    edges = [lower + (upper - lower) * n // count for n in range(1, count)]
    if not edges:
        return []
    first = sql(f"{column} < {edges[0]} OR {column} IS NULL")
    middle = [sql(f"{column} >= {low} AND {column} < {high}") for low, high in pairwise(edges)]
    # Not `>=`: a NaN is neither smaller nor larger than an edge for some databases.
    return [first, *middle, sql(f"NOT ({column} < {edges[-1]})")]
