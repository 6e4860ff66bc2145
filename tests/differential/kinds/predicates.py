"""Push-down predicates: our own grammar beside Spark's WHERE clause, over random values of partitions."""

from __future__ import annotations

from random import Random
from typing import Any

from gluepot.connectors.files.source.sql_predicate import SqlPredicate, read_predicate
from gluepot.core.errors import ConfigError
from tests.differential.kind import Difference, Round, World
from tests.native_tables import with_settings

_PREDICATES, _FOLDERS = 12, 25
_COLUMNS = {
    "s": "string",
    "Year": "string",
    "n": "int",
    "big": "bigint",
    "day": "date",
    "v": "varchar(9)",
    "m": "decimal(9,2)",
}
_TEXTS = (
    "", " ", "a", "A", "ä", "ab", "a%b", "a_b", "2024", "02024", " 2024", "2024 ", "+7", "-7", "7.0", "1e3", "0", "-0", "00", "true", "null",
    "NaN", "Infinity", "1_000", "999999999", "2147483648", "9007199254740993", "99999999999999999999", "2024-02-29", "2024-2-9", "0001-01-01",
    "10000-01-01", "日本", "😀", "\uffff", "it's", 'say "x"', "back\\slash", "__HIVE_DEFAULT_PARTITION__x",
)  # fmt: skip
_LITERALS = (
    "'a'", "'A'", "'2024'", "'02024'", "''", "' '", "'ä'", "'2024-02-29'", "'7'", "'it''s'", '"a"', "'back\\\\slash'", "7", "-7", "0", "2024", "02024",
    "2147483648", "9007199254740993", "99999999999999999999", "7.0", "1.5", "7e0", "70E-1", "2.024e3", "(7)", "(('a'))", "true", "false", "date '2024-02-29'", "null",
)  # fmt: skip
_PATTERNS = ("'a%'", "'%'", "'_'", "'2024%'", "'a\\\\_b'", "'%b'", "'a_b'", "''", "s")
_FUNCTIONS = (
    "length({c}) > 1", "{c} rlike '^0'", "substr({c}, 1, 1) = '0'", "to_date(day) > date_sub(date '2024-03-01', 9)", "cast({c} as string) = '7'",
    "try_cast({c} as int) between 1 and 9", "upper({c}) = 'A'", "coalesce({c}, 'x') = 'x'", "{c} <=> null", "concat({c}, '') = {c}",
)  # fmt: skip


class Kind:
    """Random predicates."""

    name = "predicates"
    unit = "values"

    def round(self, random: Random, world: World) -> Round:
        """Compare predicates over one set of values."""
        from gluepot.tables.partition_sql import PartitionSql

        spark = world.spark()
        ansi = random.choice(["true", "false"])
        with with_settings(spark, {"spark.sql.ansi.enabled": ansi}):
            types = {name.lower(): kind for name, kind in _COLUMNS.items()} if random.random() < 0.5 else None
            evaluator = PartitionSql(spark, types)
            rows = [{name.lower(): _value(random) for name in _COLUMNS} for _ in range(_FOLDERS)]
            total = Round()
            for _ in range(_PREDICATES):
                _compare(_predicate(random, 2), evaluator, rows, total, f"types {types is not None}, ANSI {ansi}")
            return total


def _compare(text: str, evaluator: Any, rows: list[dict[str, str | None]], total: Round, setting: str) -> None:
    try:
        read = read_predicate(text, evaluator)
    except ConfigError:
        return  # Spark refuses it
    assert isinstance(read, SqlPredicate)
    ours = [read._own(row) for row in rows]
    total.cases += len(rows)
    answered = [row for row, one in zip(rows, ours, strict=True) if one is not None]
    total.taken += len(answered)
    names = sorted(read.columns)
    wanted = _of_spark(evaluator, text, [{name: row[name] for name in names} for row in answered])
    for row, one, other in zip(answered, [one for one in ours if one is not None], wanted, strict=True):
        if one != other:
            total.differences.append(Difference(f"{text!r} of {row} ({setting})", str(one), str(other)))


def _of_spark(evaluator: Any, text: str, rows: list[dict[str, str | None]]) -> list[object]:
    if not rows:
        return []
    try:
        return list(evaluator.matches(text, rows))
    except ConfigError as error:
        if len(rows) == 1:
            return [str(error)]
        return [one for row in rows for one in _of_spark(evaluator, text, [row])]


def _value(random: Random) -> str | None:
    if random.random() < 0.1:
        return None
    return random.choice(_TEXTS) if random.random() < 0.7 else str(random.randrange(-20, 3000))


def _predicate(random: Random, depth: int) -> str:
    choice = random.random()
    if depth and choice < 0.4:
        form = random.choice(["({}) and ({})", "({}) or ({})", "not ({})", "{} and {}", "{} or {}", "not {}"])
        return form.format(*(_predicate(random, depth - 1) for _ in range(form.count("{}"))))
    column = random.choice([*_COLUMNS, "`Year`", "S", "(s)", "((n))"])
    negated = random.choice(["", "", "not "])
    match random.randrange(9):
        case 0:
            return f"{column} {negated}in ({', '.join(random.choice(_LITERALS) for _ in range(random.randint(1, 3)))})"
        case 1:
            return f"{column} {negated}between {random.choice(_LITERALS)} and {random.choice(_LITERALS)}"
        case 2:
            return f"{column} {negated}like {random.choice(_PATTERNS)}"
        case 3:
            return f"{column} is {negated}null"
        case 4:
            return random.choice(_FUNCTIONS).format(c=column)
        case 5:
            return f"{column} {_sign(random)} {random.choice(list(_COLUMNS))}"
        case 6:
            return f"{random.choice(_LITERALS)} {_sign(random)} {column}"
    return f"{column} {_sign(random)} {random.choice(_LITERALS)}"


def _sign(random: Random) -> str:
    return random.choice(["=", "==", "<>", "!=", "<", "<=", ">", ">="])
