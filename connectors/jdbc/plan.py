"""Which rows a run reads: what the database says against what was read before.

new         beyond the last row of the run before, up to the newest row there is now
late        within the overlap window before that last row, and not there when that run planned: an open transaction
            had it, or it was inserted below the mark
read again  rows that cannot be told from a late one, because they share its key

The newest row is fixed when the run plans; what comes later is for the next run. So a bookmark never says more than was
read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from gluepot.connectors.jdbc.keys import Key, Row
from gluepot.connectors.jdbc.settings import HashPartitions, RangePartitions
from gluepot.connectors.jdbc.sql import Sql, all_of, any_of, sql
from gluepot.connectors.jdbc.state import JdbcState, digest_of, digests_of

_LATE_KEYS_PER_QUERY = 200


class Facts(Protocol):
    """What planning asks of a database about one table or query; every call is a query of its own."""

    def quoted(self, names: Sequence[str]) -> list[str]:
        """Return names of columns as they stand in a statement."""

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
        """How it stands in a message and in a bookmark."""

    @property
    def primary_key(self) -> Sequence[str]:
        """Names of its columns; empty where there is none, or none is known."""

    def key(self, names: Sequence[str], *, descending: bool) -> Key:
        """Return the named columns as a key; ConfigError where one is not there."""

    def cuts(self, partitions: HashPartitions | RangePartitions | None) -> list[Sql]:
        """Return conditions that share the rows among tasks; none for one task. ConfigError as `key`."""


@dataclass(frozen=True, slots=True)
class JdbcPlan:
    """What a run reads of a table with a bookmark key.

    Args:
        relation: the table, or the query, as the database calls it.
        key: the bookmark key.
        after: where the run before ended; None at the first.
        upto: where this run ends; None if there is no row at all.
        rows: number of new rows when it was planned.
        late: keys of late rows, with the number of rows each has now.
        again: how many of those rows were read before.
        window_from: value of the first column at which the next run's overlap window begins; None without one.
        seen: keys in that window with their rows.
    """

    relation: str
    key: Key
    after: Row | None
    upto: Row | None
    rows: int = 0
    late: tuple[tuple[Row, int], ...] = ()
    again: int = 0
    window_from: str | None = None
    seen: tuple[tuple[Row, int], ...] = ()

    @property
    def late_rows(self) -> int:
        """Rows with a key of `late`, those that are read again included."""
        return sum(count for _, count in self.late)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to read."""
        return not self.rows and not self.late

    @property
    def digest(self) -> str:
        """Text that is equal for equal input."""
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
        """Yield the condition of each query; together they give every row of the plan once.

        Args:
            quoted: the key's columns as the database quotes them.
            cuts: conditions that share the table among tasks; none for one task.
        """
        if self.rows and self.upto is not None:
            new = between(self.key, self.after, self.upto, quoted)
            yield from (all_of([new, cut]) for cut in cuts) if cuts else [new]
        keys = [row for row, _ in self.late]
        for first in range(0, len(keys), _LATE_KEYS_PER_QUERY):
            yield any_of(self.key.equal(row, quoted) for row in keys[first : first + _LATE_KEYS_PER_QUERY])

    def state(self, source: Mapping[str, Any]) -> JdbcState | None:
        """Return the state that the run's commit saves; None where it changes nothing."""
        if self.upto is None or (self.is_idle and self.after is not None):
            return None
        rows = self.rows + self.late_rows
        seen = digests_of(self.seen)
        return JdbcState(self.relation, self.key, self.upto, self.window_from, seen, rows, source)


def between(key: Key, after: Row | None, upto: Row, quoted: Sequence[str]) -> Sql:
    """Return the condition of rows beyond one row, up to another."""
    conditions = [] if after is None else [key.after(after, quoted)]
    return all_of([*conditions, key.upto(upto, quoted)])


def plan(facts: Facts, relation: str, key: Key, state: JdbcState | None, overlap: str | None) -> JdbcPlan:
    """Choose the rows of a run.

    Args:
        facts: the database, asked now.
        relation: what is read.
        key: the bookmark key.
        state: state after the run before; None for the first run.
        overlap: how far before its last row late rows are looked for; None for not at all.

    Raises:
        CheckpointError: the state is of another table or key.
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
    rows = facts.count(between(key, after, upto, quoted)) if beyond else 0
    if overlap is None:
        return JdbcPlan(relation, key, after, upto, rows)
    late, again = _late(facts, key, state) if state else ((), 0)
    window_from = key.window_start(upto, overlap)
    seen = _window(facts, key, window_from, upto)
    return JdbcPlan(relation, key, after, upto, rows, late, again, window_from, tuple(seen))


def plan_range(facts: Facts, relation: str, key: Key, after: JdbcState | None, upto: JdbcState | None) -> JdbcPlan:
    """Choose the rows between two states (`--job-bookmark-from`, `-to`), whenever they were committed."""
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
    """Return keys with more rows than the run before saw, and how many of those rows it saw all the same."""
    found = []
    again = 0
    # Its window, not one of today's length: of rows before that nobody knows whether they were read.
    for row, count in _window(facts, key, state.window_from, state.last) if state.window_from else []:
        before = state.seen.get(digest_of(row), 0)
        if count > before:
            found.append((row, count))
            again += before
    return tuple(found), again


def hash_cuts(hashed: str, partitions: int, remainder: str) -> list[Sql]:
    """Return conditions that share rows by a whole number computed of each.

    Args:
        hashed: the expression; rows for which it is null belong to the first.
        partitions: how many.
        remainder: the database's way to write a remainder, `mod({0}, {1})`.
    """
    # Twice, because the remainder of a negative number is negative.
    once = remainder.format(f"({hashed})", partitions)
    share = remainder.format(f"({once} + {partitions})", partitions)
    first = sql(f"{share} = 0 OR ({hashed}) IS NULL")
    return [first, *(sql(f"{share} = {n}") for n in range(1, partitions))]


def range_cuts(column: str, lower: int, upper: int, partitions: int) -> list[Sql]:
    """Return conditions that share rows by a column's value, as Spark's `numPartitions` does: the ends are open.

    Args:
        column: quoted; rows for which it is null belong to the first.
        lower: value at which the second part could begin.
        upper: value at which the last one could end.
        partitions: how many at most.
    """
    count = max(1, min(partitions, upper - lower))
    edges = [lower + (upper - lower) * n // count for n in range(1, count)]
    if not edges:
        return []
    first = sql(f"{column} < {edges[0]} OR {column} IS NULL")
    middle = [sql(f"{column} >= {low} AND {column} < {high}") for low, high in pairwise(edges)]
    return [first, *middle, sql(f"{column} >= {edges[-1]}")]
