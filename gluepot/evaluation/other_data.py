"""Values of rules that need SQL or a second data set, found by Spark (docs/glue 12.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from threading import Lock

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from gluepot.quality.checks import ratio
from gluepot.quality.dqdl.ruleset import Rule
from gluepot.quality.measures import find_name
from gluepot.quality.numbers import RuleError

PRIMARY = "primary"
_naming = Lock()
_AGGREGATE = re.compile(r"\s*(sum|avg)\s*\(\s*([^()]+?)\s*\)\s*", re.IGNORECASE)
_REFERENCE = re.compile(r"([^.{}]+)\.(?:\{([^{}]+)\}|([^{}]+))")

Sources = Mapping[str, Callable[[], DataFrame]]
"""Data sets beside the one that is checked, by alias."""


class OtherData:
    """Finds the values of rules that one pass over the rows does not give.

    Args:
        spark: the session.
        rows: the rows that are checked.
        sources: other data sets by alias.
    """

    def __init__(self, spark: SparkSession, rows: DataFrame, sources: Sources) -> None:
        self._spark = spark
        self._rows = rows
        self._sources = sources

    def values(self, rule: Rule) -> Mapping[str, float]:
        """Return the metrics of a rule, the one that is compared first.

        Raises:
            RuleError: they cannot be found.
        """
        finders: Mapping[str, Callable[[Rule], Mapping[str, float]]] = {
            "CustomSql": self._custom_sql,
            "RowCountMatch": self._row_count_match,
            "SchemaMatch": self._schema_match,
            "ReferentialIntegrity": self._referential_integrity,
            "DatasetMatch": self._dataset_match,
            "AggregateMatch": self._aggregate_match,
        }
        if rule.type_name not in finders:
            raise RuleError(f"{rule.type_name} is not supported here yet.")
        try:
            return finders[rule.type_name](rule)
        except (AnalysisException, ParseException) as error:
            raise RuleError(first_line(error)) from None

    def flag(self, rule: Rule, rows: DataFrame, name: str) -> DataFrame:
        """Return rows with one more column: whether a row passes a rule whose result other data decide.

        Args:
            rule: ReferentialIntegrity, DatasetMatch, or CustomSql without a condition.
            rows: have the columns that are checked, and perhaps others.
            name: of the new column.

        Raises:
            RuleError: the rule cannot be evaluated.
        """
        try:
            match rule.type_name:
                case "ReferentialIntegrity":
                    mine, _, theirs, other = self._reference(rule)
                    return _with_flag(rows, other.select(*map(quoted_column, theirs)), mine, name, null_safe=False)
                case "DatasetMatch":
                    keys, matched, other = self._matched(rule)
                    wanted = other.select(*(quoted_column(theirs) for _, theirs in (*keys, *matched)))
                    return _with_flag(rows, wanted, [mine for mine, _ in (*keys, *matched)], name, null_safe=True)
                case _:
                    returned, shared = self._returned(rule)
                    wanted = returned.select(*map(quoted_column, shared))
                    return _with_flag(rows, wanted, shared, name, null_safe=True)
        except (AnalysisException, ParseException) as error:
            raise RuleError(first_line(error)) from None

    def _source(self, alias: str) -> DataFrame:
        if alias not in self._sources:
            known = ", ".join(self._sources) or "none"
            raise RuleError(f"The data set {alias} is not given in additional_data_sources; given are: {known}.")
        return self._sources[alias]()

    def _custom_sql(self, rule: Rule) -> Mapping[str, float]:
        name = "Dataset.*.CustomSQL"
        if rule.condition is None:
            flagged = self.flag(rule, self._rows, "passed")
            counted = flagged.agg(sql.count("*"), sql.count_if("passed")).first()
            assert counted is not None
            return {f"{name}.Compliance": ratio(counted[1], counted[0], PRIMARY)}
        found = self._query(rule).limit(2).collect()
        if len(found) != 1 or len(found[0]) != 1:
            raise RuleError("The query of a CustomSql rule with a condition must return one number.")
        try:
            return {name: float(found[0][0])}
        except (TypeError, ValueError):
            raise RuleError(f"The query of a CustomSql rule returned {found[0][0]!r}, which is no number.") from None

    def _query(self, rule: Rule) -> DataFrame:
        frames = {PRIMARY: self._rows, **{alias: make() for alias, make in self._sources.items()}}
        with _views(self._spark, frames):
            return self._spark.sql(rule.parameters[0])

    def _returned(self, rule: Rule) -> tuple[DataFrame, list[str]]:
        """Return what a query selects, and those of its columns that the checked rows have, too."""
        returned = self._query(rule)
        shared = [name for name in returned.columns if find_name(self._rows.columns, name)]
        if not shared:
            raise RuleError(
                "The output from CustomSQL must contain at least one column that matches the input dataset for AWS"
                " Glue Data Quality to provide row level results."
            )
        return returned, shared

    def _row_count_match(self, rule: Rule) -> Mapping[str, float]:
        alias = rule.parameters[0]
        theirs = self._source(alias).count()
        if not theirs:
            raise RuleError(f"The data set {alias} has no rows to compare with.")
        return {f"Dataset.{alias}.RowCountMatch": self._rows.count() / theirs}

    def _schema_match(self, rule: Rule) -> Mapping[str, float]:
        alias = rule.parameters[0]
        mine, theirs = (
            [(field.name.lower(), field.dataType.typeName()) for field in frame.schema]
            for frame in (self._rows, self._source(alias))
        )
        if len(mine) != len(theirs):
            raise RuleError("Column counts do not match")
        return {f"Dataset.{alias}.SchemaMatch": len({*mine} & {*theirs}) / len(mine) if mine else 1.0}

    def _reference(self, rule: Rule) -> tuple[list[str], str, list[str], DataFrame]:
        mine = _names(rule.parameters[0])
        found = _REFERENCE.fullmatch(rule.parameters[1])
        if found is None:
            raise RuleError(f'"{rule.parameters[1]}" names no columns; write "alias.column" or "alias.{{a,b}}".')
        alias, several, one = found.groups()
        theirs = _names(several) if several else [one]
        if len(mine) != len(theirs):
            raise RuleError(f"{len(mine)} columns cannot refer to {len(theirs)}; name as many on both sides.")
        other = self._source(alias)
        check_columns(self._rows, mine)
        check_columns(other, theirs)
        return mine, alias, theirs, other

    def _referential_integrity(self, rule: Rule) -> Mapping[str, float]:
        _, alias, _, _ = self._reference(rule)
        return {f"Column.{alias}.ReferentialIntegrity": self._share(rule, alias)}

    def _matched(self, rule: Rule) -> tuple[list[tuple[str, str]], list[tuple[str, str]], DataFrame]:
        alias, *maps = rule.parameters
        other = self._source(alias)
        keys = _pairs(maps[0])
        key_names = {name for pair in keys for name in pair}
        matched = (
            _pairs(maps[1])
            if len(maps) > 1
            else [(name, name) for name in self._rows.columns if name not in key_names and name in other.columns]
        )
        check_columns(self._rows, [mine for mine, _ in (*keys, *matched)])
        check_columns(other, [theirs for _, theirs in (*keys, *matched)])
        for frame, side in ((self._rows, 0), (other, 1)):
            columns = [quoted_column(pair[side]) for pair in keys]
            total = sql.count("*").alias("n")
            is_null = reduce(lambda a, b: a | b, (column.isNull() for column in columns))
            doubled = frame.groupBy(*columns).agg(total).where((sql.col("n") > 1) | is_null)
            if doubled.take(1):
                raise RuleError("Provided key map not suitable for given data frames")
        return keys, matched, other

    def _dataset_match(self, rule: Rule) -> Mapping[str, float]:
        alias = rule.parameters[0]
        return {f"Dataset.{alias}.DatasetMatch": self._share(rule, alias)}

    def _share(self, rule: Rule, alias: str) -> float:
        flagged = self.flag(rule, self._rows, "__passed").agg(sql.count("*"), sql.count_if("__passed")).first()
        assert flagged is not None
        return ratio(flagged[1], flagged[0], alias)

    def _aggregate_match(self, rule: Rule) -> Mapping[str, float]:
        (first, first_column), (second, second_column) = map(self._aggregate, rule.parameters)
        columns = dict.fromkeys([first_column, second_column])
        value = 1.0 if first == second == 0 else first / second if second else 0.0
        return {f"Column.{','.join(columns)}.AggregateMatch": value}

    def _aggregate(self, text: str) -> tuple[float, str]:
        found = _AGGREGATE.fullmatch(text)
        if found is None:
            raise RuleError(f'"{text}" is no aggregate; write "sum(column)" or "avg(alias.column)".')
        function, column = found[1].lower(), found[2]
        frame, name = self._rows, column
        alias, _, rest = column.partition(".")
        if alias in self._sources and rest:
            frame, name = self._source(alias), rest
        check_columns(frame, [name])
        row = frame.agg((sql.sum if function == "sum" else sql.avg)(quoted_column(name))).first()
        if row is None or row[0] is None:
            raise RuleError(f"Column {column} has no value in any row, so the rule cannot be judged.")
        return float(row[0]), column


def _with_flag(rows: DataFrame, wanted: DataFrame, mine: Sequence[str], name: str, *, null_safe: bool) -> DataFrame:
    """Return rows with a column that says whether `wanted` has a row with the same values.

    Args:
        rows: the rows.
        wanted: its columns correspond to `mine`.
        mine: columns of `rows`.
        name: of the new column.
        null_safe: whether NULL equals NULL; otherwise a row with NULL is in no other data set.
    """
    keys = [f"{name}_{at}" for at in range(len(mine))]
    others = wanted.toDF(*keys).distinct().withColumn(name, sql.lit(True))
    sides = list(zip(map(quoted_column, mine), map(sql.col, keys), strict=True))
    same = reduce(lambda a, b: a & b, (a.eqNullSafe(b) if null_safe else a == b for a, b in sides))
    joined = rows.join(others, same, "left").drop(*keys)
    return joined.withColumn(name, sql.coalesce(sql.col(name), sql.lit(False)))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _pairs(text: str) -> list[tuple[str, str]]:
    """Return the columns of a map, `a,b` or `a->x,b->y`, on both sides."""
    found = []
    for one in _names(text):
        mine, arrow, theirs = one.partition("->")
        found.append((mine.strip(), theirs.strip() if arrow else mine.strip()))
    return found


def check_columns(frame: DataFrame, columns: Sequence[str]) -> None:
    """Make sure that a frame has some columns, in any letter case.

    Raises:
        RuleError: it lacks one.
    """
    for column in columns:
        if find_name(frame.columns, column) is None:
            raise RuleError(f"Input data does not include column {column}!")


def quoted_column(name: str) -> Column:
    """Return the column of a name, which may have dots and blanks."""
    return sql.col(f"`{name.replace('`', '``')}`")


def first_line(error: Exception) -> str:
    """Return what an error of Spark says first; what follows is the plan of the query."""
    return str(error).strip().splitlines()[0]


@contextmanager
def _views(spark: SparkSession, frames: Mapping[str, DataFrame]) -> Iterator[None]:
    """Give data sets the names of views while a query is analysed; views that the script made keep their names.

    All threads of a script share the views of their session, and their evaluations use the same names. So only one
    thread at a time has views here.
    """
    with _naming:
        yield from _named(spark, frames)


def _named(spark: SparkSession, frames: Mapping[str, DataFrame]) -> Iterator[None]:
    before = {name: spark.table(name) for name in frames if _is_view(spark, name)}
    for name, frame in frames.items():
        frame.createOrReplaceTempView(name)
    try:
        yield
    finally:
        for name in frames:
            spark.catalog.dropTempView(name)
        for name, frame in before.items():
            frame.createOrReplaceTempView(name)


def _is_view(spark: SparkSession, name: str) -> bool:
    return any(one.name == name and one.isTemporary for one in spark.catalog.listTables())
