"""SQL literals of random values, with the ends of each type and what partitions and files find hard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

_TEXTS = (
    "''", "' '", "'a'", "'A'", "'abba'", "' box '", "'größe'", "'ß'", "'a_b%c'", "'a/b=c'", "'a%2Fb'", "'x:y'", "'b\\'ox'",
    "'\"'", "'x\\ty'", "'日本'", "'😀'", "'null'", "'true'", "'7'", "'-4'", "'.'", "'..'", "'__HIVE_DEFAULT_PARTITION__'",
    f"'{'z' * 40}'", f"'{'z' * 32}ü'", "'2024-02-29'", "'1.50'",
)  # fmt: skip
# A text that is not UTF-8. It is rare, because Python cannot hold it, so every statement that reads it is left to Spark.
_BROKEN_TEXT = "CAST(X'ff61' AS STRING)"
_DAYS = (
    "0001-01-01", "0044-03-15", "1500-02-28", "1582-10-04", "1582-10-15", "1969-12-31", "1970-01-01", "2024-02-29",
    "2026-01-01", "2026-01-02", "9999-12-31", "+10000-01-01", "-0044-03-15",
)  # fmt: skip
_MOMENTS = (
    "0001-01-01 00:00:00", "1500-02-28 23:59:59.999999", "1582-10-04 12:00:00", "1883-11-18 12:00:00",
    "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "2024-03-31 01:30:00", "2026-01-01 00:00:00.000001",
    "2026-01-01 12:34:56.789", "9999-12-31 23:59:59.999999", "+10000-01-01 00:00:00",
)  # fmt: skip
_FLOATS = ("'NaN'", "'Infinity'", "'-Infinity'", "'-0.0'", "0", "1.5", "-2.675", "1e-7", "3.4e38", "7")
_BYTES = ("X''", "X'00'", "X'ff61'", "X'616263'", "X'0000000000000000000000000000000000'")

Maker = Callable[[Random], str]


def _whole(bits: int) -> Maker:
    ends = (f"{-(1 << bits - 1)}", f"{(1 << bits - 1) - 1}")
    return lambda random: f"'{random.choice((*ends, *map(str, range(-3, 12))))}'"


def _decimal(precision: int, scale: int) -> Maker:
    def make(random: Random) -> str:
        digits = str(random.choice((0, 1, 5, 10**precision - 1, random.randrange(10**precision)))).rjust(scale + 1, "0")
        point = len(digits) - scale
        return f"'{random.choice(('', '-'))}{digits[:point]}.{digits[point:]}'"

    return make


def _chosen(values: Sequence[str], form: str = "{}") -> Maker:
    return lambda random: form.format(random.choice(values))


def _text(random: Random) -> str:
    return _BROKEN_TEXT if random.random() < 0.002 else random.choice(_TEXTS)


def _list(kind: str) -> Maker:
    return lambda random: f"array({', '.join(literal(kind, random) for _ in range(random.randrange(4)))})"


def _map(kind: str) -> Maker:
    def make(random: Random) -> str:
        keys = random.sample(("''", "'a'", "'A'", "'ü'"), random.randrange(4))
        return f"map({', '.join(f'{key}, {literal(kind, random)}' for key in keys)})"

    return make


def _struct(**fields: str) -> Maker:
    return lambda random: (
        f"named_struct({', '.join(f'{chr(39)}{name}{chr(39)}, {literal(kind, random)}' for name, kind in fields.items())})"
    )


_INNER = "struct<x:int,y:string>"
_MAKERS: dict[str, Maker] = {
    "tinyint": _whole(8),
    "smallint": _whole(16),
    "int": _whole(32),
    "bigint": _whole(64),
    "float": _chosen(_FLOATS),
    "double": _chosen(_FLOATS),
    "decimal(38,0)": _decimal(38, 0),
    "decimal(38,18)": _decimal(38, 18),
    "decimal(9,2)": _decimal(9, 2),
    "decimal(18,3)": _decimal(18, 3),
    "string": _text,
    "binary": _chosen(_BYTES),
    "boolean": _chosen(("true", "false")),
    "date": _chosen(_DAYS, "date'{}'"),
    "timestamp": _chosen(_MOMENTS, "timestamp'{} UTC'"),
    "timestamp_ntz": _chosen(_MOMENTS, "timestamp_ntz'{}'"),
    "array<int>": _list("int"),
    "array<string>": _list("string"),
    "array<double>": _list("double"),
    _INNER: _struct(x="int", y="string"),
    f"array<{_INNER}>": _list(_INNER),
    "map<string,bigint>": _map("bigint"),
    f"map<string,{_INNER}>": _map(_INNER),
    "struct<a:array<int>,T:timestamp,d:decimal(9,2),m:map<string,string>>": lambda random: (
        f"named_struct('a', {literal('array<int>', random)}, 'T', {literal('timestamp', random)},"
        f" 'd', {literal('decimal(9,2)', random)}, 'm', {literal('map<string,string>', random)})"
    ),
    "map<string,string>": _map("string"),
}
KINDS = tuple(_MAKERS)
"""All types of columns, as SQL writes them."""

KEYS = ("int", "bigint", "bigint", "string", "string", "date", "timestamp", "boolean", "smallint", "tinyint")
"""Types of columns by which rows are found, as often as they are chosen."""

COMPARED = (*KEYS, "timestamp_ntz")
"""Types of columns that conditions compare."""


def literal(kind: str, random: Random, nulls: float = 0.15) -> str:
    """Return a value of a type as SQL."""
    value = "NULL" if random.random() < nulls else _MAKERS[kind](random)
    return value if kind == "string" and value != "NULL" else f"CAST({value} AS {kind})"


def plain_literal(kind: str, random: Random) -> str:
    """Return a value as a person writes it where its type is known."""
    value = _MAKERS[kind](random)
    if kind in {"bigint", "int", "smallint", "tinyint"}:
        number = value.strip("'")
        suffix = {"bigint": "L", "int": "", "smallint": "S", "tinyint": "Y"}[kind]
        return f"{number}{suffix}" if abs(int(number)) < 12 else f"CAST('{number}' AS {kind})"
    return value if kind in {"string", "boolean", "date", "timestamp", "timestamp_ntz"} else f"CAST({value} AS {kind})"
