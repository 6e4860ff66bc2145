"""Keeps the results of evaluations and answers what metrics were before. It lies in the ledger's database."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Engine, Select, delete, insert, select

from gluepot.bookmarks.ledger.connect import VARIABLE
from gluepot.core.database import Part, open_engine, transaction
from gluepot.evaluation.history.tables import metrics, results
from gluepot.evaluation.results import Result, Source
from gluepot.quality.distributions import ValueCounts
from gluepot.quality.observations import Observation
from gluepot.quality.outcomes import RuleOutcome

NAME = "data quality history"
VERSION_TABLE = "quality_alembic_version"
HEAD = "0001"
"""The newest migration; a test compares it with the scripts."""

_PART = Part(NAME, VARIABLE, HEAD, Path(__file__).parent / "migrations", VERSION_TABLE)
_opened: dict[str, History] = {}


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
        """
        with transaction(self._engine, NAME) as connection:
            same = select(results.c.id).where(results.c.evaluation == result.evaluation)
            connection.execute(delete(metrics).where(metrics.c.result.in_(same)))
            connection.execute(delete(results).where(results.c.evaluation == result.evaluation))
            row = {
                "evaluation": result.evaluation,
                "job": result.source.job,
                "context": result.source.context,
                "run_id": result.run_id,
                "started_ms": result.started_ms,
                "completed_ms": result.completed_ms,
                "body": json.dumps(
                    {
                        "outcomes": [_plain(one) for one in result.outcomes],
                        "analyzed": {**result.analyzed},
                        "distributions": {name: one.plain() for name, one in result.distributions.items()},
                        "observations": [one.plain() for one in result.observations],
                    }
                ),
            }
            made = connection.execute(insert(results).values(row).returning(results.c.id)).scalar_one()
            values = [
                {"result": made, "metric": name, "value": value}
                for name, value in result.metrics.items()
                if math.isfinite(value)
            ]
            if values:
                connection.execute(insert(metrics), values)

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

    def latest(self, job: str | None = None, context: str | None = None, most: int = 20) -> list[Result]:
        """Return the newest results first.

        Args:
            job: only of this job.
            context: only of this context.
            most: the largest number of results.
        """
        query = select(results).order_by(results.c.id.desc()).limit(most)
        if job is not None:
            query = query.where(results.c.job == job)
        if context is not None:
            query = query.where(results.c.context == context)
        with transaction(self._engine, NAME) as connection:
            rows = connection.execute(query).mappings().all()
            return [_result(dict(row), dict(map(tuple, connection.execute(_metrics_of(row["id"]))))) for row in rows]


def shared_history(url: str) -> History:
    """Return a connection that all of this process shares; the first call makes it.

    Raises:
        ConfigError: the URL is of another kind, or its driver is not installed.
        TransientError: the database cannot be reached.
        CheckpointError: a newer Gluepot wrote it.
    """
    if url not in _opened:
        _opened[url] = History(open_engine(url, _PART))
    return _opened[url]


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


def _plain(one: RuleOutcome) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "passed": one.passed,
        "reason": one.reason,
        "metrics": {name: value for name, value in one.metrics.items() if math.isfinite(value)},
        "evaluated": one.evaluated,
        "labels": [list(pair) for pair in one.labels],
    }


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
    source = Source(row["job"], row["context"])
    return Result(
        source,
        row["evaluation"],
        row["run_id"],
        row["started_ms"],
        row["completed_ms"],
        outcomes,
        body["analyzed"],
        values,
        _distributions(body),
        [Observation.of_plain(one) for one in body.get("observations", ())],
    )
