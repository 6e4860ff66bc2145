"""Queries that ask functions directly, of columns whose values are all of one sort.

A random query hides much: its functions seldom get values for which they are special, and one value that the shortcut
leaves to Spark decides the query. So these ask a few functions of plain columns, over all rows or few.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from random import Random

import pyarrow as pa

from tests.differential.sql.expressions import AGGREGATES, EDGES, FORMS, WINDOWS, Expression, Maker
from tests.differential.sql.queries import Query
from tests.differential.sql.tables import Make, T, U, arrow, decimal_of, decimal_sorts

NAME = "e"
_ROWS = 24
# Of nested columns there are more nulls, because fewer functions take them.
_NULLS, _NESTED_NULLS = 0.1, 0.3
# How many columns of each type. There are more of types whose functions differ by precision, scale or place of digits.
_COUNTS = {"m": 6, "d": 4, "i": 3, "l": 2, "s": 3, "t": 2, "b": 2} | dict.fromkeys("hcgzwxfaqrp", 1)
# The scales of the decimals: none, of money, the most that Java prints without an exponent, one more, all and any.
_SCALES = (0, 2, 6, 7, 38, None)
_NESTED = {"a": "tags", "q": "nums", "r": "r", "p": "p"}
COLUMNS: Mapping[str, Sequence[str]] = {
    kind: [f"{kind}_{number}" for number in range(count)] for kind, count in _COUNTS.items()
}
_PLACE = re.compile(r"\{(\w)\}")
_WORDS = ("a", "abba", "ABBA", " b ", "b'ox", "a_b", "a%b", "xyz", "  ", "", "a\\b")
_DIGITS = ("0", "7", "-4", "003", "12.5", "0.05", "-0", "2.675", "99999", "123456.789")


def _half(random: Random) -> float:
    """Return a number that ends with 5 at some place, such as 2.5, -0.5 or 0.00135."""
    return (random.randrange(-1000, 1000) + 0.5) / 10 ** random.choice([0, 0, 0, 1, 2, 3, 6])


# For each type, the sorts of values that a column may have.
_SORTS: Mapping[str, Sequence[Make]] = {
    "d": (
        _half,
        lambda random: random.uniform(-1, 1) / 10 ** random.randrange(10),
        lambda random: float(random.randint(-20, 20)) * random.choice([1.0, -1.0]),
        lambda random: round(random.uniform(-1000, 1000), random.randrange(6)),
        lambda random: random.choice([1, -1]) * random.random() * 10.0 ** random.randint(-300, 300),
        T["d"][1],
    ),
    **{
        kind: (
            lambda random: random.randint(-3, 5),
            lambda random: random.randint(-100, 100),
            lambda random, bits=bits: (
                random.choice([1, -1])  # type: ignore[misc]
                * (2 ** random.randrange(bits - 1) - random.randrange(2))
            ),
            T[kind][1],
        )
        for kind, bits in {"h": 16, "i": 32, "l": 64}.items()
    },
    "s": (
        lambda random: random.choice(_WORDS),
        lambda random: random.choice(_DIGITS),
        lambda random: "".join(random.choice("ab _%\\") for _ in range(random.randrange(5))),
        T["s"][1],
    ),
    "t": (lambda random: random.randint(-100_000, 50_000), lambda random: random.randint(19_000, 22_000), T["t"][1]),
}


def table(random: Random) -> pa.Table:
    """Return the table of these queries. Each of its columns has values of one sort, and few nulls."""
    made = {"id": pa.array(range(_ROWS), pa.int64())}
    for kind, names in COLUMNS.items():
        for name in names:
            if kind == "m":
                type_of = decimal_of(random, _SCALES[names.index(name)])
                sorts = decimal_sorts(type_of.precision, type_of.scale)
            else:
                type_of, make = U[_NESTED[kind]] if kind in _NESTED else T[kind]
                sorts = _SORTS.get(kind, (make,))
            one = random.choice(sorts)
            nulls = _NESTED_NULLS if kind in _NESTED else _NULLS
            made[name] = arrow([None if random.random() < nulls else one(random) for _ in range(_ROWS)], type_of)
    return pa.table(made)


@cache
def _forms(text: str, kind: str = "") -> Sequence[tuple[str, str]]:
    """Return the forms with places that are not rare, each with its type, and once for each column of its first place.

    The first place holds such a column already.
    """
    forms = [form.strip() for form in text.split(";")]
    return [
        (kind, _PLACE.sub(column, form, count=1) if column else form)
        for form in forms
        if not form.startswith("~") and (places := _PLACE.findall(form))
        for column in COLUMNS.get(places[0], [""])
    ]


def _of_types(forms: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    return [one for kind, text in forms.items() for one in _forms(text, kind)]


class Asker:
    """Makes queries. Each form has its turn with each column before one of them comes again.

    Args:
        random: the source of chance.
    """

    def __init__(self, random: Random) -> None:
        self._random, self._maker = random, Maker(random, COLUMNS)
        windows = WINDOWS.replace("order by order", "order by id").replace(", order)", ", id)")
        self._functions, self._edges = self._turns(_of_types(FORMS)), self._turns(_of_types(EDGES))
        self._aggregates, self._windows = self._turns(_forms(AGGREGATES)), self._turns(_forms(windows))

    def query(self) -> Query:
        """Return a query of a few functions of plain columns."""
        random, first = self._random, self._random.randrange(_ROWS)
        rows = random.choice(["", "", f" where id between {first} and {first + 3}", f" where id = {first}"])
        over = f"from {NAME}0{rows}"
        choice = random.random()
        if choice < 0.55:
            return Query(f"select <items>, count(*) over () as rows {over}", {"items": self._some(self._functions, 24)})
        if choice < 0.7:
            return Query(f"select <items>, count(*) over () as rows {over}", {"items": self._some(self._edges, 12)})
        if choice < 0.85:
            by = random.choice(["", "", " group by b_0", " group by i_0"])
            return Query(f"select <items> {over}{by}", {"items": self._some(self._aggregates, 8)})
        return Query(f"select <items> {over}", {"items": self._some(self._windows, 6)})

    def _turns(self, forms: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        while True:
            yield from self._random.sample(forms, len(forms))

    def _some(self, turns: Iterator[tuple[str, str]], count: int) -> tuple[tuple[str, Expression], ...]:
        return tuple((kind, self._maker.of_columns(form)) for kind, form in islice(turns, count))


def parts(asked: Query) -> Iterator[Query]:
    """Yield the halves of a query that was not taken: one function may have decided it."""
    items = asked.lists["items"]
    if len(items) > 1:
        middle = len(items) // 2
        for some in (items[:middle], items[middle:]):
            yield replace(asked, lists={**asked.lists, "items": some})


Ask = Callable[[Query], bool]
"""Compares the answers to a query, and returns whether the shortcut took it."""


def ask(asked: Query, is_taken: Ask) -> None:
    """Ask a query, and its parts if it is not taken."""
    if not is_taken(asked):
        for part in parts(asked):
            ask(part, is_taken)
