"""Generated rulesets and data, judged by us in mergeable pieces and by SQL in DuckDB over the whole table.

The SQL is written from docs/glue 12.2 to 12.4 and shares nothing with the code that it checks.
"""

import math
import random
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import reduce

import duckdb
import pyarrow as pa
import pytest

from gluepot.quality.checks import Facts, Setting
from gluepot.quality.dqdl.parser import parse
from gluepot.quality.evaluation import Examination
from gluepot.quality.measures import OWN, Measured, measure
from gluepot.quality.numbers import Moment
from gluepot.quality.row_tests import RowTests

PAIRS = 1_000
IN_EVERY_RUN = 200
MASK = f"{OWN}where_0"
NOW = datetime(2024, 1, 31, 12, tzinfo=UTC)

NAN, INF = float("nan"), float("inf")
DOUBLES = [NAN, INF, -INF, 0.0, -0.0, 1.5, -2.25, 3.0, 1e100, -1e100, 1e16, 7.0]
INTEGERS = [0, 1, 2, 3, -1, 7, 42, 2**40, -(2**40)]
TEXTS = ["", " ", "\t ", "a", "ab", "Ab", "b1", "é", "日本", "👩🏽‍🚀", "x" * 40, '"', "\\", "12", "NULL"]
NUMERALS = ["1", " 7 ", "-3", "1.5", "3000000000", "true", "No", "2024-01-31", "2024-13-01", "", "x", "日"]
DAYS = [NOW + timedelta(hours=hours) for hours in (-2000, -72, -50, -36, -24, -12, -1, 0, 5)]
DECIMALS = [
    "0",
    "1.5",
    "-2.25",
    "3",
    "12345678901234567890.0123456789",
    "0.0000000001",
    "-9999999999999999999999999999.9",
]
NUMBERS = ["i", "d", "w", "m"]
ALL = [*NUMBERS, "s", "v", "t", "b"]

# The type of each column in the whole table, and the values that it has in a chunk, by the type that it has there.
# `w` is an integer in some chunks and a double in others.
COLUMNS = {
    "i": (pa.int64(), [(pa.int32(), INTEGERS[:7]), (pa.int64(), INTEGERS)]),
    "d": (pa.float64(), [(pa.float64(), DOUBLES), (pa.float64(), [1.5, 3.0, -2.25])]),
    "w": (pa.float64(), [(pa.int32(), INTEGERS[:7]), (pa.int64(), INTEGERS), (pa.float64(), [0.5, 3.0, 1e9, -1.0])]),
    "m": (
        pa.decimal128(38, 10),
        [
            (pa.decimal128(38, 10), [Decimal(one) for one in DECIMALS]),
            (pa.decimal128(6, 2), [Decimal(one) for one in DECIMALS[:4]]),
        ],
    ),
    "s": (pa.string(), [(pa.string(), TEXTS), (pa.string(), ["a", "ab"])]),
    "v": (pa.string(), [(pa.string(), NUMERALS), (pa.string(), ["1", "-3"])]),
    "t": (pa.timestamp("us", "UTC"), [(pa.timestamp("us", "UTC"), DAYS)]),
    "b": (pa.bool_(), [(pa.bool_(), [True, False])]),
}


def chunks_of(dice):
    """Return some record batches; each has most of the columns, and the column that says which rows `b` chooses."""
    names = [name for name in ALL if dice.random() < 0.95]
    null_share = dice.choice([0, 0, 0.1, 0.5, 1])
    chunks = []
    for _ in range(dice.choice([1, 1, 2, 3, 5])):
        rows = dice.choice([0, 1, 2, 5, 30])
        columns = {}
        for name in names:
            if dice.random() < 0.1:
                continue
            data_type, values = dice.choice(COLUMNS[name][1])
            given = [None if dice.random() < null_share else dice.choice(values) for _ in range(rows)]
            if all(one is None for one in given) and dice.random() < 0.5:
                data_type = pa.null()
            columns[name] = pa.array(given, data_type)
        chosen = [one is True for one in columns["b"].to_pylist()] if "b" in columns else [False] * rows
        chunks.append(pa.record_batch({**columns, MASK: pa.array(chosen, pa.bool_())}))
    return names, chunks


def whole_table(names, chunks):
    """Return all rows, with NULL for columns that a chunk lacks; a column `_` if there is no other."""
    columns = {"_": pa.nulls(sum(chunk.num_rows for chunk in chunks))} if not names else {}
    for name in names:
        values = []
        for chunk in chunks:
            has_it = name in chunk.schema.names
            values += chunk.column(name).to_pylist() if has_it else [None] * chunk.num_rows
        columns[name] = pa.array(values, COLUMNS[name][0])
    return pa.table(columns)


def number_condition(dice, numbers):
    """Return a condition in DQDL, and in SQL with VALUE for the value."""
    a, b = sorted(dice.sample(numbers, 2))
    some = ",".join(map(str, dice.sample(numbers, dice.choice([1, 2, 4]))))
    return dice.choice(
        [
            *((f"{operator} {a}", f"VALUE {operator} {a}") for operator in ("=", "!=", ">", ">=", "<", "<=")),
            (f"between {a} and {b}", f"VALUE > {a} AND VALUE < {b}"),
            (f"not between {a} and {b}", f"(VALUE <= {a} OR VALUE >= {b})"),
            (f"in [{some}]", f"VALUE IN ({some})"),
            (f"not in [{some}]", f"VALUE NOT IN ({some})"),
        ]
    )


def quoted_in_dqdl(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def quoted_in_sql(text):
    return "'" + text.replace("'", "''") + "'"


def text_condition(dice):
    texts = dice.sample(TEXTS, dice.choice([1, 2, 5]))
    words = dice.sample(["NULL", "EMPTY", "WHITESPACES_ONLY"], dice.choice([0, 0, 1, 2]))
    listed = [*map(quoted_in_dqdl, texts), *words]
    tests = [f"VALUE = {quoted_in_sql(one)}" for one in texts]
    tests += ["VALUE = ''"] * ("EMPTY" in words)
    tests += ["(VALUE <> '' AND trim(VALUE, ' ' || chr(9)) = '')"] * ("WHITESPACES_ONLY" in words)
    found = f"coalesce({' OR '.join(tests)}, {'TRUE' if 'NULL' in words else 'FALSE'})"
    pattern = dice.choice(["a", "^[a-z]+$", "[a-z]*", "^.$", "[0-9]{2}", "é|日", "^$"])
    return dice.choice(
        [
            (f"in [{','.join(listed)}]", found),
            (f"not in [{','.join(listed)}]", f"NOT {found}"),
            (f"= {listed[0]}", f"coalesce({tests[0]}, FALSE)"),
            (f"!= {listed[0]}", f"NOT coalesce({tests[0]}, FALSE)"),
            ("= NULL", "VALUE IS NULL"),
            ("!= NULL", "VALUE IS NOT NULL"),
            ("= EMPTY", "coalesce(VALUE = '', FALSE)"),
            (f'matches "{pattern}"', f"coalesce(regexp_extract(VALUE, '{pattern}', 0) <> '', FALSE)"),
            (f'not matches "{pattern}"', f"coalesce(regexp_extract(VALUE, '{pattern}', 0) = '', FALSE)"),
        ]
    )


# Ends of ranges that no mean, deviation or correlation of such values comes close to, so that rounding decides nothing.
AWKWARD = [-1_000.123, -1.237, 0.0371, 0.6131, 1.7193, 12.3457, 1_000.1234]
WHOLE = [-1, 0, 1, 2, 3, 7, 30, 42]
SHARES = [0.0, 0.25, 0.5, 0.9, 1.0]


def column_rule(dice, column):
    """Return a rule that judges the rows of a column: its text, and SQL for whether a row fulfils it."""
    kinds = {
        "i": "number",
        "d": "number",
        "w": "number",
        "m": "number",
        "s": "text",
        "v": "text",
        "t": "date",
        "b": "flag",
    }
    kind = kinds[column]
    if dice.random() < 0.2:
        return f'IsComplete "{column}"', f"{column} IS NOT NULL"
    if kind == "number":
        numbers = WHOLE if dice.random() < 0.7 else [*AWKWARD, 10**20, -(10**30)]
        text, sql = number_condition(dice, numbers)
        null = "TRUE" if text.startswith(("!=", "not in")) else "FALSE"
        value = "m::DOUBLE" if column == "m" else column
        return f'ColumnValues "{column}" {text}', f"coalesce({sql.replace('VALUE', value)}, {null})"
    if kind == "text":
        if column == "s" and dice.random() < 0.3:
            text, sql = number_condition(dice, [0, 1, 2, 3, 5, 40])
            return f'ColumnLength "s" {text}', sql.replace("VALUE", "length(coalesce(s, ''))")
        text, sql = text_condition(dice)
        return f'ColumnValues "{column}" {text}', sql.replace("VALUE", column)
    if kind == "date" and dice.random() < 0.5:
        text, sql = number_condition(
            dice, ['"2023-12-31"', '"2024-01-29"', '"2024-01-30"', '"2024-01-31"', '"2024-02-01"']
        )
        null = "TRUE" if text.startswith(("!=", "not in")) else "FALSE"
        seconds = re.sub('"(.*?)"', r"epoch(TIMESTAMPTZ '\1')", sql.replace("VALUE", "epoch(t)"))
        return f'ColumnValues "t" {text}', f"coalesce({seconds}, {null})"
    if kind == "date":
        text, sql = number_condition(dice, [1, 24, 36, 48, 72, 500])
        hours = " ".join(
            f"{one} hours" if one.isdigit() else one
            for one in text.replace(",", " , ").replace("[", "[ ").replace("]", " ]").split()
        )
        return (
            f'DataFreshness "t" {hours}',
            f"coalesce({sql.replace('VALUE', '((epoch(NOW) - epoch(t)) / 3600)')}, FALSE)",
        )
    wanted = dice.choice(["true", "false"])
    return f'ColumnValues "b" = {wanted}', f"coalesce(b = {wanted}, FALSE)"


def simple_rule(dice):
    """Return a rule without `where`, and one SQL query for (value, NULL if it cannot be judged; whether it passes; metrics).

    The query reads the view `rows_`; the metrics are a struct, whose fields are named as Glue names metrics.
    """
    number, other, column = dice.choice(NUMBERS), dice.choice(NUMBERS), dice.choice(ALL)
    pair = ",".join(dice.sample(ALL, 2))
    whole, share, awkward = (
        number_condition(dice, WHOLE),
        number_condition(dice, SHARES),
        number_condition(dice, AWKWARD),
    )

    def valued(text, condition, metric, sql):
        return (
            f"{text} {condition[0]}".strip(),
            f"""
            SELECT x, {condition[1].replace("VALUE", "x")}, {{'{metric}': x}} FROM ({sql}) AS _(x)""",
        )

    def groups(columns, sql):
        filled = " OR ".join(f"{one} IS NOT NULL" for one in columns.split(","))
        return f"SELECT {sql} FROM (SELECT {columns}, count(*) AS n FROM rows_ WHERE {filled} GROUP BY ALL)"

    double = f"{number}::DOUBLE"
    moments = f"(SELECT {double} AS y, {double} - (SELECT avg({double}) FROM rows_) AS z FROM rows_ WHERE {number} IS NOT NULL)"
    pattern = dice.choice(["^[a-z]$", "^[a-s]$", "[it]", "x"])
    unique = "sum(CASE WHEN n = 1 THEN 1 ELSE 0 END)"
    names = pair.replace(",", '" "')
    row_text, row_sql = column_rule(dice, column)
    threshold = f"with threshold >= {dice.choice(SHARES)}"
    makers = {
        "RowCount": lambda: valued("RowCount", whole, "Dataset.*.RowCount", "SELECT count(*) FROM rows_"),
        "Completeness": lambda: valued(
            f'Completeness "{column}"',
            share,
            f"Column.{column}.Completeness",
            f"SELECT count({column}) / nullif(count(*), 0) FROM rows_",
        ),
        "Uniqueness": lambda: valued(
            f'Uniqueness "{column}"', share, f"Column.{column}.Uniqueness", groups(column, f"{unique} / sum(n)")
        ),
        "Uniqueness of two": lambda: valued(
            f'Uniqueness "{names}"', share, f"Multicolumn.{pair}.Uniqueness", groups(pair, f"{unique} / sum(n)")
        ),
        "IsUnique": lambda: valued(
            f'IsUnique "{column}"', ("", "x = 1"), f"Column.{column}.Uniqueness", groups(column, f"{unique} / sum(n)")
        ),
        "IsPrimaryKey": lambda: (
            f'IsPrimaryKey "{column}"',
            f"""SELECT u, u = 1 AND c = 1, {{'Column.{column}.Uniqueness': u, 'Column.{column}.Completeness': c}}
                FROM ({groups(column, f"{unique} / sum(n)")}) AS _(u), (SELECT count({column}) / nullif(count(*), 0) FROM rows_) AS __(c)""",
        ),
        "UniqueValueRatio": lambda: valued(
            f'UniqueValueRatio "{column}"',
            share,
            f"Column.{column}.UniqueValueRatio",
            groups(column, f"{unique} / count(*)"),
        ),
        "DistinctValuesCount": lambda: valued(
            f'DistinctValuesCount "{column}"',
            whole,
            f"Column.{column}.DistinctValuesCount",
            f"SELECT count(*) FROM (SELECT {column} FROM rows_ GROUP BY ALL)",
        ),
        "Entropy": lambda: valued(
            f'Entropy "{column}"',
            awkward,
            f"Column.{column}.Entropy",
            f"SELECT sum(-n / total * ln(n / total)) FROM (SELECT n, sum(n) OVER () AS total FROM (SELECT count(*) AS n FROM rows_ WHERE {column} IS NOT NULL GROUP BY {column}))",
        ),
        "Mean": lambda: valued(
            f'Mean "{number}"', awkward, f"Column.{number}.Mean", f"SELECT avg({double}) FROM rows_"
        ),
        "Sum": lambda: valued(
            f'Sum "{number}"', awkward, f"Column.{number}.Sum", f"SELECT sum({number}::DOUBLE) FROM rows_"
        ),
        "Variance": lambda: valued(
            f'Variance "{number}"', awkward, f"Column.{number}.Variance", f"SELECT avg(z * z) FROM {moments}"
        ),
        "StandardDeviation": lambda: valued(
            f'StandardDeviation "{number}"',
            awkward,
            f"Column.{number}.StandardDeviation",
            f"SELECT sqrt(avg(z * z)) FROM {moments}",
        ),
        "ColumnCorrelation": lambda: valued(
            f'ColumnCorrelation "{number}" "{other}"',
            awkward,
            f"Multicolumn.{number},{other}.ColumnCorrelation",
            f"""WITH pairs AS (SELECT {number}::DOUBLE AS a, {other}::DOUBLE AS b FROM rows_ WHERE {number} IS NOT NULL AND {other} IS NOT NULL),
                away AS (SELECT a - (SELECT avg(a) FROM pairs) AS a, b - (SELECT avg(b) FROM pairs) AS b FROM pairs)
                SELECT CASE WHEN sqrt(sum(a * a)) * sqrt(sum(b * b)) <> 0 THEN sum(a * b) / (sqrt(sum(a * a)) * sqrt(sum(b * b))) END FROM away""",
        ),
        "ColumnDataType": lambda: _data_type(dice, threshold),
        "ColumnExists": lambda: (
            f'ColumnExists "{column.upper()}"',
            f"SELECT x, x = 1, MAP {{}} FROM (SELECT count(*) FROM (DESCRIBE rows_) WHERE column_name = '{column}') AS _(x)",
        ),
        "ColumnNamesMatchPattern": lambda: valued(
            f'ColumnNamesMatchPattern "{pattern}"',
            ("", "x = 1"),
            "Dataset.*.ColumnNamesPatternMatchRatio",
            f"""SELECT count(*) FILTER (regexp_matches(column_name, '{pattern}')) / nullif(count(*), 0)
                FROM (DESCRIBE rows_) WHERE column_name <> '_'""",
        ),
        "rows": lambda: _every_row(dice, row_text, row_sql, column),
        "threshold": lambda: _share_of_rows(row_text, row_sql, column, threshold),
    }
    return makers[dice.choice([*makers, *["rows", "threshold"] * 6])]()


def _data_type(dice, threshold):
    number = r"^[+-]?[0-9]+(\.[0-9]*)?$"
    castable = {
        "INTEGER": f"regexp_matches(trim(v), '{number}') AND trunc(TRY_CAST(trim(v) AS DOUBLE)) BETWEEN -2147483648 AND 2147483647",
        "Long": f"regexp_matches(trim(v), '{number}')",
        "double": "TRY_CAST(trim(v) AS DOUBLE) IS NOT NULL AND trim(v) <> ''",
        "BOOLEAN": "lower(trim(v)) IN ('t', 'true', 'y', 'yes', '1', 'f', 'false', 'n', 'no', '0')",
        "Date": "TRY_CAST(v AS DATE) IS NOT NULL",
        "DECIMAL(2,1)": f"regexp_matches(trim(v), '{number}') AND abs(TRY_CAST(trim(v) AS DOUBLE)) < 9.95",
    }
    name = dice.choice(list(castable))
    with_threshold = dice.random() < 0.5
    text = f'ColumnDataType "v" = "{name}"' + (f" {threshold}" if with_threshold else "")
    passes = f"x {threshold.split(' ', 2)[2]}" if with_threshold else "x = 1"
    share = f"SELECT count(*) FILTER (coalesce({castable[name]}, FALSE)) / nullif(count(*), 0) FROM rows_"
    return text, f"SELECT x, {passes}, {{'Column.v.ColumnDataType.Compliance': x}} FROM ({share}) AS _(x)"


def _every_row(dice, text, row_sql, column):
    """Return the rule, and SQL for the metrics that Glue has for its operator: extremes or the share of the rows."""
    condition = text.split('" ', 1)[1] if '" ' in text else ""
    extreme = "epoch(t)" if column == "t" else f"{column}::DOUBLE"
    if text.startswith("IsComplete"):
        names = {f"Column.{column}.Completeness": "share"}
    elif text.startswith("DataFreshness"):
        names = {"Column.t.DataFreshness.Compliance": "share"}
    else:
        of_length = text.startswith("ColumnLength")
        begin, end = f"Column.{column}.", "imumLength" if of_length else "imum"
        extreme = "length(coalesce(s, ''))" if of_length else extreme
        low, high = {f"{begin}Min{end}": "least"}, {f"{begin}Max{end}": "most"}
        share = {f"{begin}LengthCompliance" if of_length else f"{begin}ColumnValues.Compliance": "share"}
        compares_numbers = of_length or column in {*NUMBERS, "t"}
        if compares_numbers and condition.startswith(">"):
            names = low
        elif compares_numbers and condition.startswith("<"):
            names = high
        elif compares_numbers and condition.startswith(("=", "between")):
            names = {**low, **high}
        else:
            names = share
        if not of_length and names is not share and compares_numbers:
            share_name = next(iter(share))
            struct = ", ".join(f"'{name}': {value}" for name, value in names.items())
            return (
                text,
                f"""SELECT share, share = 1, CASE WHEN filled > 0 THEN map {{{struct}}} ELSE map {{'{share_name}': share}} END
                FROM (SELECT count(*) FILTER ({row_sql}) / nullif(count(*), 0) AS share, min({extreme}) AS least, max({extreme}) AS most,
                    count({column}) AS filled FROM rows_)""",
            )
    struct = ", ".join(f"'{name}': {value}" for name, value in names.items())
    ends = f", min({extreme}) AS least, max({extreme}) AS most" if "share" not in names.values() else ""
    return (
        text,
        f"""SELECT share, share = 1, {{{struct}}}
        FROM (SELECT count(*) FILTER ({row_sql}) / nullif(count(*), 0) AS share{ends} FROM rows_)""",
    )


def _share_of_rows(text, row_sql, column, threshold):
    if not text.startswith("ColumnValues"):
        return _every_row(None, text, row_sql, column)
    passes = f"x {threshold.split(' ', 2)[2]}"
    share = f"SELECT count(*) FILTER ({row_sql}) / nullif(count(*), 0) FROM rows_"
    return (
        f"{text} {threshold}",
        f"SELECT x, {passes}, {{'Column.{column}.ColumnValues.Compliance': x}} FROM ({share}) AS _(x)",
    )


class Oracle:
    """Judges by SQL over the whole table."""

    def __init__(self, names, table):
        self._names = names
        self._connection = duckdb.connect()
        self._connection.execute("SET TimeZone = 'UTC'; SET threads = 1")
        self._connection.register("everything", table)

    def judge(self, rule, sql, where):
        """Return whether the rule passes and its metrics; no metrics if it cannot be judged."""
        condition = "" if not where else "WHERE b" if "b" in self._names else "WHERE FALSE"
        self._connection.execute(f"CREATE OR REPLACE TEMP VIEW rows_ AS SELECT * FROM everything {condition}")
        try:
            value, passed, metrics = self._connection.execute(
                sql.replace("NOW", f"TIMESTAMPTZ '{NOW.isoformat()}'")
            ).fetchone()
        except duckdb.BinderException:  # a column that the data do not have
            return False, {}
        if value is None:
            return False, {}
        # NaN fulfils no condition on a figure of the whole data set.
        return bool(passed) and not math.isnan(value), dict(metrics)


def ours(text, chunks, by_row):
    ruleset = parse(text)
    setting = Setting(Moment(NOW.timestamp()), {"b": MASK})
    examination = Examination(ruleset, setting, RowTests(setting), by_row)
    measures = examination.measures()
    measured = reduce(Measured.merged, [measure(chunk, measures) for chunk in chunks])
    return examination.judged(Facts(measured))


def generated(seed):
    """Return names of columns, chunks, and rules as (DQDL, SQL or parts, whether `where` applies)."""
    dice = random.Random(seed)
    names, chunks = chunks_of(dice)
    rules = []
    for _ in range(dice.choice([1, 3, 6])):
        text, sql = simple_rule(dice)
        where = dice.random() < 0.25 and not text.startswith(("ColumnExists", "ColumnNames"))
        if where:
            begin, *threshold = text.split(" with ")
            text = " with ".join([f'{begin} where "b"', *threshold])
        rules.append((text, sql, where))
    return dice, names, chunks, rules


def same(one, other, scale):
    if math.isnan(one) or math.isnan(other) or math.isinf(one) or math.isinf(other):
        return str(one) == str(other)
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9 * scale)


def check(seed):
    dice, names, chunks, rules = generated(seed)
    present = [name for name in names if any(name in chunk.schema.names for chunk in chunks)]
    table = whole_table(present, chunks)
    oracle = Oracle(present, table)
    dice.shuffle(chunks)
    wanted = [oracle.judge(*rule) for rule in rules]
    composites = []
    if len(rules) > 2:
        word, combine = dice.choice([("and", all), ("or", any)])
        composites.append(f" {word} ".join(f"({text})" for text, _, _ in rules[:3]))
        metrics = {name: value for _, found in wanted[:3] for name, value in found.items()}
        wanted.append((combine(passed for passed, _ in wanted[:3]), metrics))
    text = (
        "Rules = [\n"
        + ",\n".join([*(text for text, _, _ in rules), *composites, f"ColumnCount = {len(present)}"])
        + "\n]"
    )
    wanted.append((True, {"Dataset.*.ColumnCount": float(len(present))}))
    found = ours(text, chunks, by_row=False)
    for outcome, (passed, metrics) in zip(found.outcomes, wanted, strict=True):
        shown = f"seed {seed}: {outcome}\nexpected {passed}, {metrics}\n{table.to_pylist()}"
        assert outcome.passed == passed, shown
        assert outcome.metrics.keys() == metrics.keys(), shown
        assert all(same(value, metrics[name], 1.0) for name, value in outcome.metrics.items()), shown
    check_row_by_row(seed, dice, present, chunks, table)


def check_row_by_row(seed, dice, present, chunks, table):
    """Compare a composite whose parts are joined in each row."""
    parts = [column_rule(dice, column) for column in dice.sample(present, min(2, len(present)))]
    if len(parts) < 2:
        return
    word = dice.choice(["and", "or"])
    text = f" {word} ".join(f"({part})" for part, _ in parts)
    (outcome,) = ours(f"Rules = [ {text} ]", chunks, by_row=True).outcomes
    sql = f"SELECT x, x = 1, MAP {{}} FROM (SELECT count(*) FILTER ({f' {word} '.join(f'({part})' for _, part in parts)}) / nullif(count(*), 0) FROM rows_) AS _(x)"
    expected, _ = Oracle(present, table).judge(text, sql, where=False)
    assert outcome.passed == expected, f"seed {seed}: {outcome}\nexpected {expected}\n{table.to_pylist()}"


@pytest.mark.parametrize("first", range(0, IN_EVERY_RUN, 50))
def test_outcomes_and_metrics_are_those_of_sql(first):
    for seed in range(first, first + 50):
        check(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(IN_EVERY_RUN, PAIRS, 100))
def test_more_outcomes_and_metrics_are_those_of_sql(first):
    for seed in range(first, first + 100):
        check(seed)
