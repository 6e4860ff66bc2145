"""Random queries over the tables of `tables`, as values that can be made smaller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from tests.differential.sql.expressions import AGGREGATES, KEYS, WINDOWS, Expression, Maker
from tests.differential.sql.tables import T

_LIST = re.compile(r"<(\w+)>")
_KINDS = "mmddiiilhssttzzbbwcxaqrfg"
_PLAIN_KINDS = "mmddiiilhssttzzbbwcg"
# What a column of a type is replaced by when a query is made smaller.
_SIMPLE: Mapping[str, Sequence[str]] = {
    "m": ("0.5",), "d": ("1D",), "g": ("1D",), "i": ("1",), "l": ("1L",), "h": ("1S",), "s": ("'a'",), "c": ("'1'",), "b": ("true",), "t": ("date'2020-01-01'",),
}  # fmt: skip
_JOINS = ("join", "left join", "right join", "full join", "cross join")
_CONDITIONS = (
    "k = uk",
    "k = uk",
    "k <=> uk",
    "s = us",
    "m = um",
    "t0.t = ut",
    "d = ud",
    "i < uk",
    "k = uk and {b}",
    "{b}",
    "k + 1 = uk",
    "s = us and k = uk",
)
_OF_T = {**{name: name for name in T}, "k": "i", "n": "m", "v": "m", "e": "m"}
_OF_U = {"uk": "i", "us": "s", "um": "m", "ut": "t", "ud": "d", "tags": "a", "nums": "q", "r": "r", "p": "p"}


@dataclass(frozen=True, slots=True)
class Query:
    """A query.

    Args:
        form: its text, with places for lists such as `<items>`.
        lists: the expressions in these places, each with its type.
        is_ordered: whether its rows have an order.
    """

    form: str
    lists: Mapping[str, tuple[tuple[str, Expression], ...]]
    is_ordered: bool = False

    def __str__(self) -> str:
        return _LIST.sub(lambda place: self._text(place[1]), self.form)

    def _text(self, name: str) -> str:
        if name == "test":
            return " and ".join(f"({one})" for _, one in self.lists[name]) or "true"
        named = (
            f"{one} as {name[0]}{at}" if name in {"items", "inner"} else str(one)
            for at, (_, one) in enumerate(self.lists[name])
        )
        return ", ".join(named)

    def smaller(self) -> Iterator[Query]:
        """Yield queries with fewer parts."""
        for name, values in self.lists.items():
            for at in range(len(values)):
                if len(values) > (name != "test"):
                    yield self._with(name, (*values[:at], *values[at + 1 :]))
        for name, values in self.lists.items():
            for at, (kind, one) in enumerate(values):
                for made in one.smaller(kind, _SIMPLE):
                    yield self._with(name, (*values[:at], (kind, made), *values[at + 1 :]))

    def _with(self, name: str, values: tuple[tuple[str, Expression], ...]) -> Query:
        return replace(self, lists={**self.lists, name: values})


def _columns(of: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, kind in of.items():
        found.setdefault(kind, []).append(name)
    return found


class Source:
    """A relation that queries read.

    Args:
        text: of the FROM clause.
        columns: names of columns by type.
        order: columns that order all rows.
    """

    def __init__(self, text: str, columns: Mapping[str, Sequence[str]], order: str) -> None:
        self.text, self.columns, self.order = text, columns, order


def _source(random: Random) -> Source:
    choice = random.random()
    if choice < 0.4:
        return Source("t0", _columns(_OF_T), "id")
    if choice < 0.5:
        return Source("u0", _columns(_OF_U), "uid")
    join, both = random.choice(_JOINS), _columns({**_OF_T, **_OF_U})
    test = Maker(random, both).of_forms(random.choice(_CONDITIONS).replace(";", ""), 1)
    on = "" if join == "cross join" else f" on {test}"
    return Source(f"t0 {join} u0{on}", both, "id, uid")


def query(random: Random) -> Query:
    """Return a random query."""
    source = _source(random)
    maker = Maker(random, source.columns)
    return random.choice(
        [
            _projected,
            _projected,
            _grouped,
            _grouped,
            _grouped,
            _grouping_sets,
            _distinct,
            _set_operation,
            _subqueries,
            _common,
        ]
    )(maker, source)


def boundary(random: Random) -> Query:
    """Return a query of one expression that is left to Spark, or may be."""
    source = _source(random)
    item = Maker(random, source.columns).rare()
    # Spark would not run a query that only picks rows.
    return Query(f"select <items>, count(*) over () as rows from {source.text}", {"items": (item,)})


def _some(maker: Maker, kinds: str, least: int, most: int, depth: int = 2) -> tuple[tuple[str, Expression], ...]:
    chosen = [maker.random.choice(kinds) for _ in range(maker.random.randint(least, most))]
    return tuple((kind, maker.of_type(kind, maker.random.randint(0, depth))) for kind in chosen)


def _forms(maker: Maker, forms: str, least: int, most: int) -> tuple[tuple[str, Expression], ...]:
    return tuple(
        ("", maker.of_forms(forms, maker.random.randint(1, 2))) for _ in range(maker.random.randint(least, most))
    )


def _test(maker: Maker) -> tuple[tuple[str, Expression], ...]:
    return _some(maker, "b", 0, 1, 2) if maker.random.random() < 0.5 else ()


def _limit(maker: Maker, order: str) -> str:
    direction = maker.random.choice(["", " desc", " nulls last", " desc nulls first"])
    ordered = ", ".join(f"{one}{direction}" for one in order.split(", "))
    return f" order by {ordered}" + (f" limit {maker.random.randrange(5)}" if maker.random.random() < 0.5 else "")


def _projected(maker: Maker, source: Source) -> Query:
    windows = WINDOWS.replace("order by order", f"order by {source.order}").replace(", order)", f", {source.order})")
    over = _forms(maker, windows, 0 if "join" in source.text else 1, 2)
    is_ordered = maker.random.random() < 0.3
    tail = _limit(maker, source.order) if is_ordered else ""
    if is_ordered and maker.random.random() < 0.5:
        tail = tail.replace("order by ", "order by <by>, ")
    lists = {
        "items": (*_some(maker, _KINDS, 3, 8, 3), *over),
        "test": _test(maker),
        "by": _some(maker, KEYS + "dd", 1, 1),
    }
    return Query(f"select <items> from {source.text} where <test>{tail}", lists, is_ordered)


def _grouped(maker: Maker, source: Source) -> Query:
    keys = _some(maker, KEYS, 0, 3, 1)
    lists = {"items": _forms(maker, AGGREGATES, 2, 6), "test": _test(maker)}
    if not keys:
        return Query(f"select <items> from {source.text} where <test>", lists)
    having = (
        f" having {maker.of_forms(AGGREGATES, 1)} > {maker.random.randrange(3)}" if maker.random.random() < 0.2 else ""
    )
    is_ordered = maker.random.random() < 0.2
    tail = " order by <keys>" + (" limit 3" if maker.random.random() < 0.5 else "") if is_ordered else ""
    text = f"select <keys>, <items> from {source.text} where <test> group by <keys>{having}{tail}"
    return Query(text, {**lists, "keys": keys}, is_ordered)


def _grouping_sets(maker: Maker, source: Source) -> Query:
    lists = {"items": _forms(maker, AGGREGATES, 1, 3), "test": _test(maker), "inner": _some(maker, KEYS, 2, 2, 1)}
    by = maker.random.choice(
        [
            "rollup (i0, i1)",
            "cube (i0, i1)",
            "grouping sets ((i0), (i1), ())",
            "grouping sets ((i0, i1), (i1))",
            "i0, rollup (i1)",
        ]
    )
    flags = maker.random.choice(["", "grouping(i1), ", "grouping_id(), "])
    inner = f"(select <inner>, * from {source.text} where <test>)"
    return Query(f"select i0, i1, {flags}<items> from {inner} group by {by}", lists)


def _distinct(maker: Maker, source: Source) -> Query:
    lists = {"items": _some(maker, KEYS, 1, 3, 2), "test": _test(maker)}
    return Query(f"select distinct <items> from {source.text} where <test>", lists)


def _set_operation(maker: Maker, source: Source) -> Query:
    operation = maker.random.choice(["union all", "union all", "union", "intersect", "except", "except all"])
    items = _some(maker, KEYS, 1, 4, 1)
    other = tuple((kind, maker.of_type(kind, 1)) for kind, _ in items)
    both = f"select <items> from {source.text} where <test> {operation} select <other> from {source.text}"
    text = f"select distinct * from ({both})" if operation == "union all" else both
    return Query(text, {"items": items, "other": other, "test": _test(maker)})


def _subqueries(maker: Maker, source: Source) -> Query:
    form = maker.random.choice(
        [
            "select <items> from t0 where k in (select uk from u0) and <test>",
            "select <items> from t0 where k not in (select uk from u0 where <other>) and <test>",
            "select <items> from t0 where s not in (select us from u0) and <test>",
            "select <items> from t0 where exists (select 1 from u0 where uk = k and <other>) and <test>",
            "select <items> from t0 where not exists (select 1 from u0 where us = s) and <test>",
            "select <items> from t0 where (b or k in (select uk from u0)) and <test>",
            "select <items> from t0 where m > (select avg(um) from u0) and <test>",
            "select <items> from t0 where k >= (select max(uk) from u0 where us = s) and <test>",
            "select <items>, (select max(um) from u0 where uk = k) as x from t0 where <test>",
            "select <items>, (select count(*) from u0 where uk = k) as x from t0 where <test>",
            "select <items> from t0 left semi join u0 on k = uk and <other> where <test>",
            "select <items> from t0 left anti join u0 on k = uk where <test>",
        ]
    )
    own = Maker(maker.random, _columns(_OF_T))
    lists = {
        "items": _some(own, _KINDS, 2, 6),
        "test": _test(own),
        "other": _some(Maker(maker.random, _columns(_OF_U)), "b", 1, 1),
    }
    return Query(form, lists)


def _common(maker: Maker, source: Source) -> Query:
    keys = (("i", maker.of_type("i", 1)), ("s", maker.of_type("s", 1)))
    inner = (
        *keys,
        ("m", maker.of_forms("sum({m}); max({m}); avg({m}); sum({i}) * 0.5", 1)),
        ("l", maker.of_forms("count(*); sum({h}); count(distinct {s})", 1)),
    )
    outer = Maker(maker.random, {"i": ["i0"], "s": ["i1"], "m": ["i2"], "l": ["i3"]})
    tail = maker.random.choice(
        [
            "c",
            "c join t0 on i0 = k",
            "c left join u0 on i1 = us",
        ]
    )
    lists = {"items": _some(outer, _PLAIN_KINDS, 2, 6), "test": _test(outer), "inner": inner, "keys": keys}
    return Query(
        f"with c as (select <inner> from {source.text} group by <keys>) select <items> from {tail} where <test>", lists
    )
