"""Random MERGE statements: their sources, conditions and clauses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from tests.differential.merges.values import COMPARED, KINDS, literal, plain_literal

_NARROWER = {
    "bigint": ("int", "smallint"),
    "int": ("smallint", "tinyint"),
    "smallint": ("tinyint",),
    "double": ("float", "int", "bigint"),
    "decimal(38,0)": ("decimal(9,2)", "bigint"),
    "decimal(38,18)": ("decimal(9,2)",),
    "timestamp": ("date", "timestamp_ntz"),
}
_OPERATORS = ("=", "=", "<", "<=", ">", ">=", "<>", "<=>")


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Args:
        name: its name.
        kind: its type in SQL.
    """

    name: str
    kind: str

    def of(self, alias: str) -> str:
        """Return what a statement calls it."""
        return f"{alias}.{quoted(self.name)}"


def quoted(name: str) -> str:
    """Return a name as SQL takes it."""
    return f"`{name}`"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of which each value is SQL.

    Args:
        columns: their columns.
        rows: the rows.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def sql(self) -> str:
        """A query of the rows."""
        names = ", ".join(quoted(one.name) for one in self.columns)
        if self.rows:
            rows = ", ".join(f"({', '.join(row)})" for row in self.rows)
            return f"SELECT * FROM VALUES {rows} AS v({names})"
        nothing = ", ".join(f"CAST(NULL AS {one.kind}) AS {quoted(one.name)}" for one in self.columns)
        return f"SELECT {nothing} WHERE false"

    def smaller(self) -> Iterator[Rows]:
        """Yield the rows without some of them."""
        count = len(self.rows)
        if count > 3:
            yield replace(self, rows=self.rows[: count // 2])
            yield replace(self, rows=self.rows[count // 2 :])
        elif count > 1:
            for at in range(count):
                yield replace(self, rows=self.rows[:at] + self.rows[at + 1 :])

    def without(self, name: str) -> Rows:
        """Return the rows without a column."""
        kept = [at for at, one in enumerate(self.columns) if one.name.casefold() != name.casefold()]
        rows = tuple(tuple(row[at] for at in kept) for row in self.rows)
        return Rows(tuple(self.columns[at] for at in kept), rows)


@dataclass(frozen=True, slots=True)
class Merge:
    """A statement.

    Args:
        source: what stands behind USING.
        on: conditions of the match, which AND joins.
        clauses: the WHEN clauses.
    """

    source: str
    on: tuple[str, ...]
    clauses: tuple[str, ...]

    def sql(self, table: str) -> str:
        """Return the statement for a table."""
        return f"MERGE INTO {table} t USING {self.source} s ON {' AND '.join(self.on)} {' '.join(self.clauses)}"

    def smaller(self) -> Iterator[Merge]:
        """Yield the statement without some of its parts."""
        if self.source != "b":
            yield replace(self, source="b")
        for at in range(len(self.clauses)):
            if len(self.clauses) > 1:
                yield replace(self, clauses=self.clauses[:at] + self.clauses[at + 1 :])
        for at in range(len(self.on)):
            if len(self.on) > 1:
                yield replace(self, on=self.on[:at] + self.on[at + 1 :])
        for at, clause in enumerate(self.clauses):
            head, _, tail = clause.partition(" THEN ")
            if " AND " in head:
                bare = f"{head.partition(' AND ')[0]} THEN {tail}"
                yield replace(self, clauses=(*self.clauses[:at], bare, *self.clauses[at + 1 :]))


def source_of(table: Sequence[Column], keys: Sequence[str], pools: dict[str, list[str]], random: Random) -> Rows:
    """Return the rows of a source for a table.

    Args:
        table: columns of the table.
        keys: names of those columns by which rows are found.
        pools: values of these columns, by their names.
        random: where randomness comes from.
    """
    is_plain = random.random() < 0.87
    columns = []
    for one in table:
        name, kind = one.name, one.kind
        if not is_plain and random.random() < 0.3:
            name = random.choice((name.upper(), name.lower(), name.capitalize()))
        if not is_plain and random.random() < 0.25:
            kind = random.choice((*_NARROWER.get(kind, (kind,)), *_NARROWER.get(kind, (kind,)), random.choice(KINDS)))
        if is_plain or one.name in keys or random.random() < 0.93:
            columns.append((Column(name, kind), pools.get(one.name) if kind == one.kind else None))
    if random.random() < 0.3:
        columns.append((Column("extra", random.choice(KINDS)), None))
    if random.random() < 0.3:
        random.shuffle(columns)
    count = random.choice((0, 1, 5, 12, 20))
    rows = [
        tuple(random.choice(pool) if pool else literal(one.kind, random) for one, pool in columns) for _ in range(count)
    ]
    if random.random() < 0.92:
        wanted = {name.casefold() for name in keys}
        places = [at for at, (one, _) in enumerate(columns) if one.name.casefold() in wanted]
        rows = list({tuple(row[at] for at in places): row for row in rows}.values())
    return Rows(tuple(one for one, _ in columns), tuple(rows))


def merge_of(table: Sequence[Column], source: Sequence[Column], keys: Sequence[str], random: Random) -> Merge:
    """Return a statement."""
    names = {one.name.casefold(): one for one in source}
    on = []
    for name in keys:
        own, other = next(one for one in table if one.name == name), names.get(name.casefold(), source[0])
        sides = [own.of("t"), other.of("s")]
        random.shuffle(sides)
        operator = "<=>" if random.random() < 0.02 else "="
        on.append(f" {operator} ".join(sides))
    if random.random() < 0.25:
        on.append(_condition([("t", one) for one in table] + [("s", one) for one in source], random))
    both = [("t", one) for one in table] + [("s", one) for one in source]
    clauses = []
    for last in _lasts(random.choice((0, 1, 1, 2, 3))):
        act = random.choices(("star", "set", "delete"), (4, 4, 2))[0]
        what = {"star": "UPDATE SET *", "delete": "DELETE"}.get(act) or f"UPDATE SET {_assigned(table, both, random)}"
        clauses.append(f"WHEN MATCHED{_tested(both, random, 0.3 if last else 1)} THEN {what}")
    own = [("s", one) for one in source]
    for last in _lasts(random.choice((0, 1, 1, 2)) if clauses else 1):
        what = "INSERT *" if random.random() < 0.6 else _inserted(table, own, keys, random)
        clauses.append(f"WHEN NOT MATCHED{_tested(own, random, 0.3 if last else 1)} THEN {what}")
    if random.random() < 0.04:
        targets = [("t", one) for one in table]
        what = random.choice(("DELETE", f"UPDATE SET {_assigned(table, targets, random)}"))
        clauses.append(f"WHEN NOT MATCHED BY SOURCE{_tested(targets, random, 0.7)} THEN {what}")
    return Merge(_using(source, random), tuple(on), tuple(clauses))


def _using(source: Sequence[Column], random: Random) -> str:
    chosen = random.random()
    if chosen < 0.7:
        return "b"
    if chosen < 0.85:
        return f"(SELECT {', '.join(quoted(one.name) for one in source)} FROM b)"
    return f"(SELECT * FROM b WHERE {_condition([('b', one) for one in source], random)})"


def _lasts(count: int) -> Iterator[bool]:
    """Yield whether a clause is the last of its sort, which alone may have no condition."""
    yield from (at == count - 1 for at in range(count))


def _tested(columns: Sequence[tuple[str, Column]], random: Random, chance: float) -> str:
    return f" AND {_condition(columns, random)}" if random.random() < chance else ""


def _condition(columns: Sequence[tuple[str, Column]], random: Random, depth: int = 0) -> str:
    chosen = random.random()
    if depth < 2 and chosen < 0.25:
        joined = random.choice((" AND ", " OR ")).join(_condition(columns, random, depth + 1) for _ in range(2))
        return f"({joined})"
    if depth < 2 and chosen < 0.33:
        return f"NOT {_condition(columns, random, depth + 1)}"
    compared = [(alias, one) for alias, one in columns if one.kind in COMPARED]
    if chosen < 0.4 or not compared:
        alias, one = random.choice(columns)
        return f"({one.of(alias)} IS {random.choice(('', 'NOT '))}NULL)"
    if chosen < 0.42:
        return random.choice(("true", "false", "NULL", "CAST(NULL AS boolean)"))
    if chosen < 0.44:
        return _exotic(columns, random)
    alias, one = random.choice(compared)
    alike = [(other_alias, other) for other_alias, other in compared if other.kind == one.kind and other != one]
    if alike and random.random() < 0.5:
        other_alias, other = random.choice(alike)
        return f"({one.of(alias)} {random.choice(_OPERATORS)} {other.of(other_alias)})"
    if random.random() < 0.2 and not one.kind.startswith("timestamp"):
        values = [plain_literal(one.kind, random) for _ in range(random.randrange(1, 4))]
        if random.random() < 0.15:
            values.append("NULL")
        return f"({one.of(alias)} {random.choice(('', 'NOT '))}IN ({', '.join(values)}))"
    if one.kind.startswith("timestamp") and random.random() < 0.8:
        return f"({one.of(alias)} IS NOT NULL)"  # no literals, which the shortcut declines
    sides = [one.of(alias), plain_literal(one.kind, random)]
    random.shuffle(sides)
    return f"({sides[0]} {random.choice(_OPERATORS)} {sides[1]})"


def _exotic(columns: Sequence[tuple[str, Column]], random: Random) -> str:
    """Return a condition that Arrow might not compute as Spark does."""
    alias, one = random.choice(columns)
    name = one.of(alias)
    return random.choice(
        (
            f"({name} = {plain_literal(random.choice(COMPARED), random)})",
            f"({name} = {name})",
            f"(CAST({name} AS STRING) LIKE '%1%')",
            f"(coalesce({name}, {literal(one.kind, random)}) IS NOT NULL)",
            f"({name} BETWEEN {plain_literal(one.kind, random)} AND {plain_literal(one.kind, random)})",
            f"EXISTS (SELECT 1 WHERE {name} IS NULL)",
        )
    )


def _assigned(table: Sequence[Column], values: Sequence[tuple[str, Column]], random: Random) -> str:
    chosen = random.sample(list(table), min(len(table), random.randrange(1, 4)))
    named = [(one, f"{random.choice(('t.', ''))}{quoted(one.name)}") for one in chosen]
    return ", ".join(f"{name} = {_value(one, values, random)}" for one, name in named)


def _inserted(
    table: Sequence[Column], values: Sequence[tuple[str, Column]], keys: Sequence[str], random: Random
) -> str:
    chosen = [one for one in table if one.name in keys or random.random() < 0.8]
    random.shuffle(chosen)
    names = ", ".join(quoted(one.name) for one in chosen)
    given = []
    for one in chosen:
        same = [(alias, other) for alias, other in values if other.name.casefold() == one.name.casefold()]
        given.append(same[0][1].of("s") if same and random.random() < 0.8 else _value(one, values, random))
    return f"INSERT ({names}) VALUES ({', '.join(given)})"


def _value(column: Column, values: Sequence[tuple[str, Column]], random: Random) -> str:
    alike = [(alias, one) for alias, one in values if one.kind == column.kind]
    chosen = random.random()
    if alike and chosen < 0.75:
        alias, one = random.choice(alike)
        return one.of(alias)
    if chosen < 0.93:
        is_plain = column.kind in COMPARED and not column.kind.startswith("timestamp") and chosen < 0.85
        return plain_literal(column.kind, random) if is_plain else "NULL"
    if chosen < 0.945:
        alias, one = random.choice(values)
        return one.of(alias)  # a cast, or a mistake
    if column.kind in {"int", "bigint", "smallint", "tinyint", "double"} and alike and chosen < 0.98:
        return f"{alike[0][1].of(alike[0][0])} + 1"
    return literal(column.kind, random) if chosen > 0.985 else "NULL"
