"""Examines the rows of a frame by a ruleset: measures them once, asks Spark for the rest, and judges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from threading import Lock

import pyarrow as pa
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sql

from gluepot.core.errors import ConfigError
from gluepot.engine import execute
from gluepot.engine.pipeline import FrameInput, Pipeline
from gluepot.evaluation.files import values as file_values
from gluepot.evaluation.group_counts import frequencies
from gluepot.evaluation.hash_counts import Way
from gluepot.evaluation.hashes import CODED
from gluepot.evaluation.other_data import OtherData, Sources, check_columns, first_line, quoted_column
from gluepot.evaluation.predicates import invalid_where
from gluepot.evaluation.row_outcomes import RowOutcomes, SummaryOfRows
from gluepot.frames.transforms import SelectFields
from gluepot.quality import files as file_rules
from gluepot.quality.checks import JUDGES, Facts, Setting
from gluepot.quality.distributions import Distribution, ValueCounts
from gluepot.quality.dqdl.ruleset import Composite, Rule, Ruleset, simple_rules
from gluepot.quality.evaluation import Examination
from gluepot.quality.measures import (
    OWN,
    Columns,
    Frequencies,
    Grouped,
    Groups,
    Measure,
    Measured,
    State,
    columns_of,
    find_name,
    measure,
)
from gluepot.quality.numbers import Moment, RuleError
from gluepot.quality.outcomes import Evaluation
from gluepot.quality.results import RowSummary
from gluepot.quality.row_tests import ACROSS_ROWS, RowTests

_NEARLY_UNIQUE = 0.97
"""The share of different values among the first ones from which on a column is counted by hashes."""
_DECIDED_ELSEWHERE = frozenset({"ReferentialIntegrity", "DatasetMatch", "CustomSql"})


@dataclass(frozen=True, slots=True)
class Subject:
    """What is examined.

    Args:
        spark: the session.
        pipeline: gives the rows.
        rows: returns them as a DataFrame.
        schema: of the rows, if it is known without reading them.
        sources: other data sets by alias.
    """

    spark: SparkSession
    pipeline: Pipeline
    rows: Callable[[], DataFrame]
    schema: pa.Schema | None = None
    sources: Sources = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Options:
    """How a ruleset is evaluated.

    Args:
        by_row: whether composites are judged row by row.
        filtered_as_skipped: whether a row that a `where` leaves out counts as skipped instead of passed.
        with_labels: whether the texts of rules in row outcomes show their labels.
        with_summary: whether rows are counted by rule and result, Glue's `publishAggregatedMetrics.status`.
        observes: whether metrics are compared with those of earlier evaluations, Glue's `observations.scope`.
    """

    by_row: bool = False
    filtered_as_skipped: bool = False
    with_labels: bool = False
    with_summary: bool = False
    observes: bool = False


class InvalidWhereError(ConfigError, ValueError):
    """A `where` that Spark cannot read or resolve. Glue raises such an error as well."""


class Examiner:
    """Evaluates one ruleset over one subject. Row outcomes may be asked for from several threads.

    Args:
        subject: what is examined.
        ruleset: the rules.
        options: how.
        now: the time of the evaluation.
        earlier: values of metrics in earlier evaluations, the newest first, by metric.
        distributions: by column the distribution in the newest earlier evaluation that has one.
    """

    def __init__(
        self,
        subject: Subject,
        ruleset: Ruleset,
        options: Options,
        now: Moment,
        earlier: Mapping[str, Sequence[float]] | None = None,
        distributions: Mapping[str, ValueCounts] | None = None,
    ) -> None:
        self._subject = subject
        self._ruleset = ruleset
        self._options = options
        self._masks = {
            where: f"{OWN}where_{at}"
            for at, where in enumerate(dict.fromkeys(rule.where for rule in ruleset.all_rules() if rule.where))
        }
        self._setting = Setting(now, self._masks, earlier or {}, distributions or {})
        self._flags = {rule: f"{OWN}flag_{at}" for at, rule in enumerate(dict.fromkeys(self._flagged_rules()))}
        self._tests = RowTests(self._setting, self._flags)
        self._examination = Examination(ruleset, self._setting, self._tests, options.by_row)
        self._given: DataFrame | None = None
        self._extended: DataFrame | None = None
        self._extending = Lock()

    def check_where(self) -> None:
        """Make sure that Spark understands each `where`.

        Raises:
            InvalidWhereError: it does not.
        """
        for where in self._masks:
            self._predicate(self._rows, where)

    @property
    def measures_alone(self) -> bool:
        """Whether one pass over the rows measures all that the rules need, so that a write can take it along."""
        return not self._needs_columns and not self._outside_rules()

    @property
    def examination(self) -> Examination:
        """What has to be measured."""
        return self._examination

    def evaluation(self) -> Evaluation:
        """Measure the rows in a pass of their own, and return the outcomes."""
        if self._needs_columns:
            pipeline = Pipeline(FrameInput(self._with_columns()))
        else:
            pipeline = self._subject.pipeline.over_known()
        return self.judge(execute.measure(self._subject.spark, pipeline, self._examination.measures()))

    def judge(self, measured: Measured) -> Evaluation:
        """Judge what was measured of all rows, and return the outcomes."""
        schema = self._subject.schema or pa.schema([])
        nothing = measure(pa.RecordBatch.from_pylist([], schema=schema), self._examination.measures())
        facts = Facts(self._counted_elsewhere(nothing.merged(measured)), self._outside(), columns_of(schema))
        return self._examination.judged(facts)

    def row_outcomes(self) -> Pipeline:
        """Return the rows with the columns that tell which rules they pass (docs/glue 12.5)."""
        needs_columns = bool(self._masks or self._flags)
        given = Pipeline(FrameInput(self._with_columns())) if needs_columns else self._subject.pipeline
        step = RowOutcomes(
            self._ruleset.rules,
            self._tests,
            skip_filtered=self._options.filtered_as_skipped,
            with_labels=self._options.with_labels,
        )
        return given.then(step)

    def summary(self) -> RowSummary:
        """Return how the rows fared, from a pass of its own."""
        one = SummaryOfRows()
        found = execute.measure(self._subject.spark, self.row_outcomes().over_known(), [one]).states.get(
            one, RowSummary()
        )
        if not isinstance(found, RowSummary):
            raise RuleError(str(found))
        return found

    @property
    def _needs_columns(self) -> bool:
        return bool(self._masks) or (self._options.by_row and self._has_flags_in_composites())

    def _has_flags_in_composites(self) -> bool:
        composites = [one for one in self._ruleset.rules if isinstance(one, Composite)]
        return any(rule in self._flags for one in composites for rule in simple_rules(one))

    def _flagged_rules(self) -> Sequence[Rule]:
        return [
            rule
            for top in self._ruleset.rules
            for rule in simple_rules(top)
            if rule.type_name in ACROSS_ROWS | {"IsPrimaryKey"}
            or (rule.type_name in _DECIDED_ELSEWHERE and (rule.type_name != "CustomSql" or rule.condition is None))
        ]

    def _outside_rules(self) -> Sequence[Rule]:
        return [rule for rule in self._examination.simple_rules() if rule.type_name not in JUDGES]

    def _outside(self) -> Mapping[Rule, Mapping[str, float] | str]:
        rules = self._outside_rules()
        if not rules:
            return {}
        data = OtherData(self._subject.spark, self._rows, self._subject.sources)
        found: dict[Rule, Mapping[str, float] | str] = {}
        for rule in rules:
            try:
                if rule.type_name in file_rules.TYPES:
                    found[rule] = file_values(rule, self._setting, self._subject.pipeline)
                else:
                    found[rule] = data.values(rule)
            except RuleError as error:
                found[rule] = str(error)
        return found

    def _counted_elsewhere(self, measured: Measured) -> Measured:
        """Count the groups that one process could not hold, in a pass of their own over the columns that they need."""
        found = {one: state for one, state in _grouped(measured) if state.too_many}
        if not found:
            return measured
        if self._needs_columns:
            pipeline = Pipeline(FrameInput(self._with_columns()))
        else:
            names = [find_name(measured.columns.types, name) or name for one in found for name in one.columns]
            select = SelectFields(tuple(f"`{name}`" for name in dict.fromkeys(names)))
            pipeline = self._subject.pipeline.over_known().then(select)
        listed = _listed(measured)
        counted = frequencies(
            self._subject.spark,
            pipeline,
            list(found),
            [state.rows for state in found.values()],
            [
                # Hashes do not tell which values are the most frequent ones.
                Way.VALUES if one in listed else _way_of(one, state, measured.columns)
                for one, state in found.items()
            ],
        )
        return _with_counts(measured, dict(zip(found, counted, strict=True)))

    def _with_columns(self) -> DataFrame:
        """Return the rows with the columns of `where` and of row results that other rows decide."""
        with self._extending:
            if self._extended is None:
                self._extended = self._extend(self._rows)
            return self._extended

    @property
    def _rows(self) -> DataFrame:
        """The rows; making a DataFrame of them can take a look at the data, so it is made once."""
        if self._given is None:
            self._given = self._subject.rows()
        return self._given

    def _extend(self, rows: DataFrame) -> DataFrame:
        data = OtherData(self._subject.spark, rows, self._subject.sources)
        for where, name in self._masks.items():
            rows = rows.withColumn(name, sql.coalesce(self._predicate(rows, where), sql.lit(False)))
        for rule, name in list(self._flags.items()):
            try:
                rows = self._flagged(rows, data, rule, name)
            except RuleError:
                del self._flags[rule]  # a rule that cannot be evaluated has no result for rows
        return rows

    def _predicate(self, rows: DataFrame, where: str) -> Column:
        rule = next(one for one in self._ruleset.all_rules() if one.where == where)
        try:
            predicate = sql.expr(where)
            rows.where(predicate)
        except (AnalysisException, ParseException) as error:
            raise InvalidWhereError(invalid_where(rule, first_line(error))) from None
        return predicate

    def _flagged(self, rows: DataFrame, data: OtherData, rule: Rule, name: str) -> DataFrame:
        if rule.type_name in _DECIDED_ELSEWHERE:
            return data.flag(rule, rows, name)
        check_columns(rows, rule.parameters)
        keys = [quoted_column(column) for column in rule.parameters]
        chosen = sql.col(self._setting.mask(rule)) if rule.where else sql.lit(True)
        times = sql.sum(sql.when(chosen, 1).otherwise(0)).over(Window.partitionBy(*keys))
        filled = _all_filled(keys) if rule.type_name == "IsPrimaryKey" else _any_filled(keys)
        return rows.withColumn(name, (times == 1) & filled)


def _grouped(measured: Measured) -> Iterator[tuple[Groups, Grouped]]:
    """Yield the groups that were counted, also those of distributions."""
    for one, state in measured.states.items():
        if isinstance(one, Groups) and isinstance(state, Grouped):
            yield one, state
        elif isinstance(one, Distribution) and isinstance(state, Mapping):
            for column, values in state.items():
                if isinstance(values, Grouped):
                    yield Groups((column,)), values


def _with_counts(measured: Measured, counts: Mapping[Groups, Frequencies]) -> Measured:
    """Return what was measured, with groups replaced by counts of them that were found elsewhere."""
    states: dict[Measure, State] = {**measured.states}
    states |= {one: found for one, found in counts.items() if one in states}
    for one, state in measured.states.items():
        if isinstance(one, Distribution) and isinstance(state, Mapping):
            states[one] = {column: counts.get(Groups((column,)), values) for column, values in state.items()}
    return Measured(measured.columns, states)


def _listed(measured: Measured) -> set[Groups]:
    """Return the groups of distributions, which list values."""
    return {
        Groups((column,))
        for one, state in measured.states.items()
        if isinstance(one, Distribution) and isinstance(state, Mapping)
        for column in state
    }


def _way_of(one: Groups, state: Grouped, columns: Columns) -> Way:
    """Return how to count the values of a column or of several that are too many for one process."""
    types = [columns.types.get(find_name(columns.types, name) or name, frozenset()) for name in one.columns]
    if any(len(some) != 1 for some in types):
        return Way.VALUES  # comparing values of several types either unites or refuses them
    if len(types) == 1 and types[0] <= CODED:
        return Way.CODES
    return Way.HASHES if state.different >= _NEARLY_UNIQUE else Way.VALUES


def _any_filled(columns: Sequence[Column]) -> Column:
    return reduce(lambda a, b: a | b, (column.isNotNull() for column in columns))


def _all_filled(columns: Sequence[Column]) -> Column:
    return reduce(lambda a, b: a & b, (column.isNotNull() for column in columns))
