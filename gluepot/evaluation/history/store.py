"""Keeps the results of evaluations and answers what metrics were before. It lies in the ledger's database."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Engine, Select, delete, insert, select
from sqlalchemy.exc import DataError

from gluepot.core.database import transaction
from gluepot.core.errors import ConfigError
from gluepot.evaluation.history.connect import NAME, shared_engine
from gluepot.evaluation.history.tables import metrics, results
from gluepot.quality.distributions import ValueCounts
from gluepot.quality.observations import Observation
from gluepot.quality.outcomes import AnalyzerOutcome, RuleOutcome
from gluepot.quality.results import CatalogTable, Result, RowSummary, Source


@dataclass(frozen=True, slots=True)
class WantedResults:
    """Which results are wanted. Every field that is not None narrows the choice.

    Args:
        job: only of this job.
        context: only of this evaluation context.
        run_id: only of this run of a job.
        table: only of this table of the Data Catalog.
        started_after_ms: only those that started later, in milliseconds since 1970.
        started_before_ms: only those that started earlier.
    """

    job: str | None = None
    context: str | None = None
    run_id: str | None = None
    table: CatalogTable | None = None
    started_after_ms: int | None = None
    started_before_ms: int | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions of a query."""
        columns = results.c
        equal = [(columns.job, self.job), (columns.context, self.context), (columns.run_id, self.run_id)]
        if self.table is not None:
            equal += [(columns.database_name, self.table.database), (columns.table_name, self.table.name)]
        found = [column == value for column, value in equal if value is not None]
        if self.started_after_ms is not None:
            found.append(columns.started_ms > self.started_after_ms)
        if self.started_before_ms is not None:
            found.append(columns.started_ms < self.started_before_ms)
        return found


ALL = WantedResults()


class History:
    """The results of evaluations.

    Args:
        engine: of the database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def save(self, result: Result) -> None:
        """Save a result; one of the same evaluation is replaced.

        Raises:
            TransientError: the database does not answer.
            ConfigError: a name is longer than the database takes.
        """
        try:
            with transaction(self._engine, NAME) as connection:
                _replace(connection, result)
        except DataError as error:
            raise ConfigError(
                f"A result of the context {result.source.context[:80]!r} does not fit into the {NAME} ({error.orig});"
                " give the context, or the predicate of a `where`, fewer characters."
            ) from error

    def earlier(self, source: Source, evaluation: str, most: int) -> dict[str, list[float]]:
        """Return what metrics were in earlier evaluations, the newest first, by metric.

        Args:
            source: of what.
            evaluation: leaves out this one, which a replay evaluates again.
            most: how many evaluations to go back.
        """
        before = _before(results.c.id, source, evaluation, most)
        query = (
            select(metrics.c.metric, metrics.c.value)
            .where(metrics.c.result.in_(before))
            .order_by(metrics.c.result.desc())
        )
        found: dict[str, list[float]] = {}
        with transaction(self._engine, NAME) as connection:
            for name, value in connection.execute(query):
                found.setdefault(name, []).append(value)
        return found

    def distributions(self, source: Source, evaluation: str, most: int) -> dict[str, ValueCounts]:
        """Return by metric the distribution in the newest earlier evaluation that has one.

        Args:
            source: of what.
            evaluation: leaves out this one, which a replay evaluates again.
            most: how many evaluations to go back.
        """
        found: dict[str, ValueCounts] = {}
        with transaction(self._engine, NAME) as connection:
            for body in connection.execute(_before(results.c.body, source, evaluation, most)).scalars():
                found = _distributions(json.loads(body)) | found
        return found

    def latest(self, wanted: WantedResults = ALL, most: int = 20, skip: int = 0) -> list[Result]:
        """Return the newest results first.

        Args:
            wanted: which results.
            most: the largest number of results.
            skip: how many of them to leave out, for the next page of a listing.
        """
        query = select(results).where(*wanted.conditions()).order_by(results.c.id.desc()).limit(most).offset(skip)
        return self._found(query)

    def with_ids(self, ids: Sequence[str]) -> list[Result]:
        """Return the results that have these ids, the newest first; ids of no result are left out."""
        return self._found(select(results).where(results.c.result_id.in_(ids)).order_by(results.c.id.desc()))

    def _found(self, query: Select[Any]) -> list[Result]:
        with transaction(self._engine, NAME) as connection:
            rows = connection.execute(query).mappings().all()
            return [_result(dict(row), dict(map(tuple, connection.execute(_metrics_of(row["id"]))))) for row in rows]


def shared_history(url: str) -> History:
    """Return the history of a database, over the connection that this process shares; see `shared_engine`."""
    return History(shared_engine(url))


def _replace(connection: Connection, result: Result) -> None:
    same = select(results.c.id).where(results.c.evaluation == result.evaluation)
    connection.execute(delete(metrics).where(metrics.c.result.in_(same)))
    connection.execute(delete(results).where(results.c.evaluation == result.evaluation))
    table = result.table or CatalogTable("", "")
    row = {
        "result_id": result.id,
        "evaluation": result.evaluation,
        "job": result.source.job,
        "context": result.source.context,
        "run_id": result.run_id,
        "ruleset": result.ruleset,
        "ruleset_run_id": result.ruleset_run_id,
        "catalog_id": table.catalog_id,
        "database_name": table.database,
        "table_name": table.name,
        "started_ms": result.started_ms,
        "completed_ms": result.completed_ms,
        "body": json.dumps(_body(result)),
    }
    made = connection.execute(insert(results).values(row).returning(results.c.id)).scalar_one()
    finite = _finite(result.metrics).items()
    values = [{"result": made, "metric": name, "value": value} for name, value in finite]
    if values:
        connection.execute(insert(metrics), values)


def _before(column: Column[Any], source: Source, evaluation: str, most: int) -> Select[Any]:
    """Return the query for a column of earlier results, the newest first."""
    return (
        select(column)
        .where(results.c.job == source.job, results.c.context == source.context)
        .where(results.c.evaluation != evaluation)
        .order_by(results.c.id.desc())
        .limit(most)
    )


def _distributions(body: Mapping[str, Any]) -> dict[str, ValueCounts]:
    # Results that were kept before there were distributions lack the key, as they lack observations.
    return {name: ValueCounts.of_plain(one) for name, one in body.get("distributions", {}).items()}


def _metrics_of(result: int) -> Any:
    return select(metrics.c.metric, metrics.c.value).where(metrics.c.result == result)


def _body(result: Result) -> dict[str, Any]:
    return {
        "outcomes": [_plain(one) for one in result.outcomes],
        "analyzers": [
            {"analyzer": one.analyzer, "metrics": _finite(one.metrics), "reason": one.reason}
            for one in result.analyzers
        ],
        "rows": result.rows,
        "summary": None if result.summary is None else _plain_summary(result.summary),
        "distributions": {name: one.plain() for name, one in result.distributions.items()},
        "observations": [one.plain() for one in result.observations],
    }


def _plain_summary(summary: RowSummary) -> dict[str, Any]:
    return {
        "rows": summary.rows,
        "failed_rows": summary.failed_rows,
        "passed": dict(summary.passed),
        "failed": dict(summary.failed),
    }


def _plain(one: RuleOutcome) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "passed": one.passed,
        "reason": one.reason,
        "metrics": _finite(one.metrics),
        "evaluated": one.evaluated,
        "labels": [list(pair) for pair in one.labels],
    }


def _finite(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _result(row: Mapping[str, Any], values: Mapping[str, float]) -> Result:
    body = json.loads(row["body"])
    outcomes = [
        RuleOutcome(
            one["rule"],
            one["passed"],
            one["reason"],
            one["metrics"],
            one["evaluated"],
            tuple((key, value) for key, value in one["labels"]),
        )
        for one in body["outcomes"]
    ]
    table = CatalogTable(row["database_name"], row["table_name"], row["catalog_id"])
    return Result(
        Source(row["job"], row["context"]),
        row["evaluation"],
        row["run_id"],
        row["started_ms"],
        row["completed_ms"],
        outcomes,
        [AnalyzerOutcome(**one) for one in body["analyzers"]],
        values,
        body.get("rows"),
        _summary(body.get("summary")),
        row["ruleset"],
        row["ruleset_run_id"],
        table if table.name else None,
        distributions=_distributions(body),
        observations=tuple(Observation.of_plain(one) for one in body.get("observations", ())),
    )


def _summary(plain: Mapping[str, Any] | None) -> RowSummary | None:
    if plain is None:
        return None
    return RowSummary(plain["rows"], plain["failed_rows"], Counter(plain["passed"]), Counter(plain["failed"]))
