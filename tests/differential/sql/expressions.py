"""Random expressions of Spark SQL, by the type of their value, as trees that can be made smaller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

# Forms of expressions by type, with places for others. A form after `~` is rare: it is left to Spark, or may be.
# m decimal, d double, g double whose sums are exact, i integer, l long, h short, s string, t date, z timestamp,
# w timestamp without zone, b condition, x binary, a array of strings, q array of integers, r struct, f float, k digit, j any type of decimals.
FORMS: Mapping[str, str] = {
    "m": """0.25; -3.5; 0.00; 12345678901234567890.5; {m} + {m}; {m} - {m}; {m} * {m}; {m} / {m}; {m} + {i}; {m} * {h}; {m} / 7;
        cast({m} as decimal(20,4)); cast({m} as decimal(38,18)); cast({m} as decimal(5,1)); cast({m} as {j}); cast({d} as {j}); cast({m} as {j}); round({m}, {k}); round({m}); round({m}, 1);
        abs({m}); -({m}); cast({i} as decimal(14,2)); cast({l} as decimal(20,0)); cast({d} as decimal(18,3)); cast({c} as decimal(8,2));
        coalesce({m}, 0.5); if({b}, {m}, {m}); nullif({m}, {m}); case when {b} then {m} end; cast(null as decimal(6,3)); {m} * 0.1;
        ~ cast({b} as decimal(3,1)); ~ {m} % {m}; ~ floor({m}); ~ ceil({m}, 1); ~ bround({m}, 1); ~ greatest({m}, {m}); ~ try_divide({m}, {m});
        try_add({m}, {m}); cast({s} as decimal(8,2)); try_cast({m} as decimal(6,2)); cast({g} as decimal(10,2)); ~ sign({m})""",
    "d": """2.5D; -0.0D; 1e300D; 0.1D; {d} * 3; {d} + {d}; {d} - 0.1D; {d} * {d}; {d} / {d}; {d} / 4; cast({i} as double);
        cast({l} as double); cast({m} as double); cast({c} as double); round({d}, {k}); round({d}); abs({d}); -({d}); if({b}, {d}, {d});
        coalesce({d}, 1D); {i} / {i}; nullif({d}, 0D); {g}; ~ cast({s} as double); ~ sqrt({d}); ~ pow({d}, 2); ~ double('NaN');
        ~ double('-Infinity'); ~ {d} % {d}; ~ cast({f} as double); ~ nanvl({d}, {d}); try_divide({d}, {d}); cast({b} as double); ~ floor({d})""",
    "g": "2.5D; 0.25D; {g} + {g}; {g} - 0.5D; {g} * 2; if({b}, {g}, {g}); coalesce({g}, 1D); -({g}); abs({g}); cast({h} as double)",
    "f": "~ cast({d} as float); 1.5F; {f}; ~ {f} + {f}; coalesce({f}, 1F); if({b}, {f}, {f})",
    "i": """7; -1; 0; 2147483647; {i} + {i}; {i} - {i}; {i} * 3; {i} * {i}; length({s}); year({t}); month({t}); day({t}); quarter({t});
        dayofyear({t}); datediff({t}, {t}); cast({c} as int); cast({b} as int); coalesce({i}, 0); abs({i}); -({i}); cast({m} as int);
        cast({d} as int); cast({l} as int); case when {b} then {i} when {b} then {i} else {i} end; if({b}, {i}, null);
        case {i} when 1 then {i} when {i} then 2 end; {i} & {i}; {i} & 3; shiftright({i}, 2); size({a}); size({q}); get({q}, {k});
        try_element_at({q}, -1); {r}.n; ~ {p}['a']; cast({h} as int); nullif({i}, 1); ~ {i} % {i}; ~ {i} | {i}; ~ cast({s} as int); ~ hour({z});
        ~ weekofyear({t}); ~ instr({s}, 'a'); ~ {i} div {i}; ~ greatest({i}, {i}); ~ ascii({s}); ~ element_at({q}, 1); ~ {q}[0]; ~ hash({i});
        ~ try_cast({s} as int); ~ pmod({i}, 3); ~ {i} ^ {i}; ~ shiftleft({i}, 2); ~ bit_count({i}); try_add({i}, {i}); try_subtract({i}, {i});
        ~ dayofweek({t}); ~ extract(week from {t}); ~ int({t} - {t}); ~ cardinality({a}); ~ array_position({a}, 'a'); day({z})""",
    "l": """7L; {l} + {l}; {l} - {i}; {l} * {i}; cast({i} as bigint); coalesce({l}, 0L); if({b}, {l}, {l}); abs({l}); -({l}); cast({d} as bigint);
        cast({m} as bigint); cast({c} as bigint); 9223372036854775807L; {l} & 255; shiftright({l}, 3); ~ {l} div {i}; ~ unix_micros({z});
        ~ xxhash64({i}); try_multiply({l}, {l}); cast({b} as bigint); ~ crc32({x}); ~ {l} % 7; ~ unix_timestamp({z})""",
    "h": "3S; cast({i} as smallint); ~ cast({c} as smallint); {h} + {h}; {h} * 2S; ~ cast({d} as smallint); coalesce({h}, 1S); ~ cast({b} as tinyint); {h}; ~ -({h}); ~ abs({h})",
    "c": "'7'; '-12'; cast({i} as string); substring({c}, 1, 1); coalesce({c}, '0'); trim({c})",
    "s": """'abba'; ''; 'größe'; ' b '; 'b''o"x'; '\\\\'; '%'; concat({s}, {s}); {s} || '-' || {c}; substring({s}, {k} + 1, 2); substring({s}, 2); trim({s});
        coalesce({s}, 'none'); if({b}, {s}, {s}); cast({i} as string); cast({l} as string); cast({t} as string); cast({m} as string);
        upper({c}); lower({c}); upper({s}); lower({s}); cast({b} as string); try_element_at({a}, -1); get({a}, {k}); {r}.w;
        case when {b} then {s} else {c} end; nullif({s}, 'a'); left({s}, {k}); ~ right({s}, 2); ~ cast({d} as string); ~ cast({z} as string);
        ~ ltrim({s}); ~ rtrim({s}); ~ replace({s}, 'b', 'xx'); ~ lpad({s}, 5, '*'); ~ reverse({s}); ~ initcap({s}); ~ regexp_replace({s}, 'b+', 'c');
        ~ date_format({t}, 'yyyy/MM/dd'); ~ split({s}, ',')[0]; ~ concat_ws('-', {s}, {c}); ~ hex({i}); ~ cast({x} as string); ~ cast({a} as string);
        ~ substring({s}, -2, 1); ~ substring({s}, 0, 2); ~ trim(both 'b' from {s}); ~ md5({x}); ~ repeat({s}, 2); ~ format_number({d}, 2);
        ~ translate({s}, 'ab', 'xy'); ~ element_at({a}, 1); ~ cast({f} as string); ~ cast({r} as string); ~ substring_index({s}, 'b', 1);
        ~ cast({w} as string); ~ to_char({m}, '999.99'); ~ typeof({m}); ~ base64({x}); ~ chr({i}); ~ {s} collate UTF8_LCASE; ~ elt(1, {s}, {c})""",
    "t": """date'2026-03-03'; date'1970-01-01'; date'1600-01-01'; date_add({t}, {i}); date_sub({t}, {k}); date_add({t}, {k}); coalesce({t}, date'2026-01-01');
        cast({z} as date); cast({w} as date); if({b}, {t}, {t}); cast('2024-02-29' as date); nullif({t}, {t}); to_date({s}); ~ date'1500-01-01'; ~ cast({s} as date);
        ~ last_day({t}); ~ add_months({t}, {k}); ~ trunc({t}, 'MM'); ~ date'10000-01-01'; ~ next_day({t}, 'MO'); ~ make_date({i}, 1, 1); ~ date_trunc('DAY', {z})::date;
        ~ {t} + interval '1' month; ~ {t} + interval '2' day; ~ current_date()""",
    "z": """timestamp'2026-01-06 12:00:00'; timestamp'2026-01-06 12:00:00.123456'; coalesce({z}, timestamp'1999-12-31 23:59:59'); if({b}, {z}, {z});
        cast({t} as timestamp); nullif({z}, {z}); ~ cast({s} as timestamp); ~ date_trunc('HOUR', {z}); ~ {z} + interval '1' hour; ~ timestamp'1500-01-01 00:00:00';
        ~ timestamp_seconds({i}); ~ cast({w} as timestamp); ~ cast({l} as timestamp); ~ to_timestamp({s}, 'yyyy-MM-dd'); ~ from_utc_timestamp({z}, 'Asia/Tokyo')""",
    "w": "cast(null as timestamp_ntz); cast({t} as timestamp_ntz); coalesce({w}, {w}); if({b}, {w}, {w}); ~ timestamp_ntz'2020-01-01 00:00:00'; ~ cast({z} as timestamp_ntz)",
    "x": "X'CAFE'; X''; coalesce({x}, X'00'); if({b}, {x}, {x}); ~ cast({s} as binary); ~ unhex({c}); ~ {x} || {x}",
    "a": "array('a, b', ' c ', '', null); array('x'); coalesce({a}, array('z', 'it''s')); if({b}, {a}, {a}); ~ array({s}, {c}); ~ split({s}, ' '); ~ sort_array({a}); ~ array_distinct({a})",
    "q": "array(1, 2, null); coalesce({q}, array(7)); if({b}, {q}, {q}); ~ array({i}, {i}); ~ transform({q}, x -> x + 1)",
    "p": "cast(null as map<string,int>); {p}; ~ map('a', {i})",
    "r": "cast(null as struct<n:bigint,w:string,in:struct<d:double>>); if({b}, {r}, {r}); ~ named_struct('n', {l}, 'w', {s})",
    "b": """true; false; {m} > {m}; {m} = {m}; {d} <= {d}; {d} = {d}; {d} <=> {d}; {i} <> {i}; {s} = {s}; {s} < {s}; {t} < {t}; {z} > {z}; {w} <= {w}; {m} is null;
        {s} is not null; {a} is null; ~ {p} is null; {x} is null; {r} is not null; not {b}; ({b} and {b}); ({b} or {b}); {i} in (1, 2, {i}); {s} in ('x', 'abba', null); {m} in (1.25, 0.5);
        {i} not in (1, 2, null); {i} between -1 and 9; {s} like '%b%'; {s} like 'a_%'; {s} like 'a%b_'; {s} not like '%x'; contains({s}, 'b');
        startswith({s}, 'a'); endswith({s}, {s}); {i} <=> {i}; {s} <=> {s}; {z} > timestamp'2026-01-06'; {b} <=> {b}; {b} = {b}; {i} > {m}; {d} > {m}; {i} = {c};
        {i} in (1,2,3,4,5,6,7,8,9,10,11,12); {s} in ('a','b','c','d','e','f','g','h','i','j','abba'); {h} < {i}; {l} >= {d}; coalesce({b}, false); if({b}, {b}, {b});
        {t} in (date'2026-03-03', date'1970-01-01'); {d} in (0D, 1.5D, double('NaN')); ~ {f} > {f}; ~ {x} = {x}; ~ {a} = {a}; ~ isnan({d}); ~ {s} rlike '^a.*b';
        ~ {s} like '%\\\\_%'; ~ {s} like '%/_%' escape '/'; ~ {s} ilike '%B%'; ~ array_contains({a}, 'a'); ~ {s} like {s}; ~ exists({q}, x -> x > 1); ~ {x} in (X'CAFE');
        ~ cast({s} as boolean); ~ cast({i} as boolean); ~ {s} > {i}; ~ {t} > {s}; ~ {s} collate UTF8_LCASE = {c}; ~ {s} like any ('a%', '%b'); ~ {d} in (0.1D, {d});
        {m} in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11.5); ~ {d} in (0,1,2,3,4,5,6,7,8,9,-0.0D,double('NaN')); ~ {z} in (timestamp'2026-01-06', timestamp'2020-01-01')""",
}  # fmt: skip

# Functions of a constant that a query names: the translators take some and leave others. `e` is an integer at an edge,
# `v` a pattern of LIKE.
EDGES: Mapping[str, str] = {
    "s": "substring({s}, {e}, {e}); substring({s}, {e}); left({s}, {e}); get({a}, {e}); try_element_at({a}, {e})",
    "i": "get({q}, {e}); try_element_at({q}, {e}); element_at({q}, {e}); {q}[{e}]; {i} & {e}; shiftright({i}, {e}); {i} + {e}; {i} * {e}; {e} - {i}",
    "l": "{l} & {e}; shiftright({l}, {e}); {l} * {e}; {l} - {e}",
    "m": "round({m}, {e}); {m} + {e}; {m} * {e}; {m} / {e}; cast({e} as {j})",
    "d": "round({d}, {e}); {d} / {e}; {d} * {e}; round({d}); {i} / {e}",
    "t": "date_add({t}, {e}); date_sub({t}, {e})",
    "b": "{i} = {e}; {l} in ({e}, {e}); {d} >= {e}; {m} < {e}; {i} between {e} and {e}; {s} like {v}; {s} not like {v}; {c} like {v}",
}
# Beside the ends of the type: about none, and about the lengths of short texts and arrays. The least integer is left out:
# Spark ends with a fault of memory for `try_element_at(array, -2147483648)`.
_EDGES = (0, 0, 0, 1, 1, 1, -1, -1, 2, 3, 4, 5, -2, -3, 10, 31, 32, 2147483647, -2147483647)
# Parts of patterns: letters, wildcards, and signs that stand for themselves. A text of SQL doubles each backslash.
_PATTERN = ("a", "b", "1", " ", "%", "_", r"\\%", r"\\_", r"\\\\")

AGGREGATES = """
    sum({m}); avg({m}); min({m}); max({m}); sum({i}); sum({l}); avg({i}); count({s}); count(distinct {s}); min({t}); max({s}); min({s}); max({z}); min({w}); count(distinct {i});
    sum({g}); avg({g}); max({d}); min({d}); count(*); sum({i}) filter (where {b}); sum(distinct {m}); sum(distinct {i}); count(distinct {m}); count({a}); max({h}); sum({h});
    ~ count(distinct {i}, {s}); ~ count({i}, {s}); stddev({g}); var_pop({g}); count_if({b}); sum(if({b}, 1, 0)); avg({m}) filter (where {b}); count(1); min({i}); max({l}); avg({l});
    ~ max({b}); ~ bool_and({b}); ~ count(distinct {d}); ~ sum(distinct {d}); ~ collect_list({i}); ~ first({s}); ~ any_value({i}); ~ approx_count_distinct({i}); ~ median({g});
    ~ percentile({g}, 0.5); ~ corr({g}, {g}); ~ max_by({s}, {i}); ~ skewness({g}); ~ kurtosis({g}); ~ mode({i}); ~ listagg({c}); ~ bit_or({i}); ~ max({x}); ~ min({f});
    ~ max({a}); ~ count(distinct {x}); ~ avg(distinct {m}); ~ try_sum({l}); ~ try_avg({m}); ~ first({i}, true); ~ min(distinct {i}); ~ histogram_numeric({g}, 3); ~ regr_count({g}, {g})
"""  # fmt: skip
# `order` stands for columns that order all rows.
WINDOWS = """
    row_number() over (partition by {i} order by order); row_number() over (order by {s}, order); rank() over (order by {m}); dense_rank() over (order by {s} desc); rank() over (partition by {b} order by {d} desc);
    sum({m}) over (partition by {s}); count(*) over (partition by {b} order by order); lag({s}) over (order by order); lag({i}, 2) over (partition by {c} order by order); lag({m}, 1, 0.5) over (order by order);
    max({t}) over (order by order rows between 1 preceding and 2 following); avg({m}) over (partition by {h} order by order); lead({i}, 2) over (partition by {b} order by order);
    lead({s}, 1, {s}) over (order by order); lag({d}, {k}) over (order by order desc); lag({a}) over (order by order); min({i}) over (partition by {c}); sum({i}) over (order by {i}); count({s}) over ();
    lag(cast(null as int), 1, {i}) over (order by order); lag({x}, 1, {x}) over (order by order); sum({l}) over (order by order rows 2 preceding); max({s}) over (partition by {t} order by order rows between current row and unbounded following);
    min({d}) over (order by order rows between 3 preceding and 1 preceding); count({i}) over (order by {m} desc nulls last); sum({g}) over (partition by {i}); max({m}) over (order by {t} nulls last range between unbounded preceding and current row);
    ~ sum({g}) over (order by order); ~ ntile(2) over (order by order); ~ percent_rank() over (order by {i}); ~ first_value({s}) over (order by order); ~ last({i}) over (order by order); ~ nth_value({i}, 2) over (order by order);
    ~ cume_dist() over (order by {i}); ~ sum({i}) over (order by {i} range between 1 preceding and 1 following); ~ lag({i}) ignore nulls over (order by order); ~ count(distinct {i}) over (); ~ max({b}) over (order by order); ~ row_number() over (partition by {d} order by order);
    ~ sum({i}) filter (where {b}) over (partition by {c}); ~ lag({s}, -1) over (order by order); ~ lead({i}, 0) over (order by order)
"""  # fmt: skip
# The types of columns that a query can be grouped by, or ordered by.
KEYS = "iihlmstzwbc"
_PLACE = re.compile(r"\{(\w)\}")
_RARE = 0.008


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression.

    Args:
        form: its text, with places for other expressions.
        parts: the expressions in these places, each with its type.
    """

    form: str
    parts: tuple[tuple[str, Expression], ...] = ()

    def __str__(self) -> str:
        texts = iter([str(part) for _, part in self.parts])
        return _PLACE.sub(lambda _: next(texts), self.form)

    def smaller(self, kind: str, simple: Mapping[str, Sequence[str]]) -> Iterator[Expression]:
        """Yield expressions of the same type with fewer parts; `simple` has expressions without parts by type."""
        if self.parts:
            yield from (Expression(form) for form in simple.get(kind, ())[:2])
        yield from (part for of, part in self.parts if of == kind)
        for at, (of, part) in enumerate(self.parts):
            for one in part.smaller(of, simple):
                yield replace(self, parts=(*self.parts[:at], (of, one), *self.parts[at + 1 :]))


class Maker:
    """Makes random expressions of some columns.

    Args:
        random: the source of chance.
        columns: names of columns by type.
    """

    def __init__(self, random: Random, columns: Mapping[str, Sequence[str]]) -> None:
        self.random = random
        self.columns = columns

    def of_type(self, kind: str, depth: int) -> Expression:
        """Return an expression of a type."""
        if kind == "k":
            return Expression(str(self.random.randrange(4)))
        if kind == "e":
            return Expression(str(self.random.choice(_EDGES)))
        if kind == "v":
            return Expression(f"'{''.join(self.random.choice(_PATTERN) for _ in range(self.random.randint(1, 4)))}'")
        if kind == "j":
            precision = self.random.randint(1, 38)
            return Expression(f"decimal({precision},{self.random.randint(0, precision)})")
        columns = self.columns.get(kind, ())
        if columns and self.random.random() < (0.75 if depth <= 0 else 0.25):
            return Expression(self.random.choice(columns))
        return self.of_forms(FORMS[kind], depth, kind)

    def rare(self) -> tuple[str, Expression]:
        """Return an expression that is left to Spark, or may be, of columns and simple expressions; and its type."""
        forms = [(kind, one.strip()) for kind, text in FORMS.items() for one in text.split(";")]
        kind, form = self.random.choice([one for one in forms if one[1].startswith("~")])
        return kind, self.of_forms(form, 1, kind)

    def of_columns(self, form: str) -> Expression:
        """Return an expression of a form with a column, or sometimes a simple literal, in each place."""
        parts = tuple((place, self.of_type(place, 0)) for place in _PLACE.findall(form))
        return Expression(f"({form})", parts)

    def of_forms(self, text: str, depth: int, kind: str = "") -> Expression:
        """Return an expression of one of some forms."""
        forms = [form.strip() for form in text.split(";")]
        is_rare = self.random.random() < _RARE
        known = [form for form in forms if form.startswith("~") == is_rare] or forms
        if depth <= 0 and kind:
            known = [form for form in forms if "{" not in form and not form.startswith("~")] or known
        form = self.random.choice(known).removeprefix("~").strip()
        if form == f"{{{kind}}}":
            return self.of_type(kind, depth - 1)
        parts = tuple((place, self.of_type(place, depth - 1)) for place in _PLACE.findall(form))
        return Expression(form if not parts or not kind else f"({form})", parts)
