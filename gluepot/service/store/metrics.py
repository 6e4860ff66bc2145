"""Keeps metrics and their data of each minute in the service's database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from sqlalchemy import Connection, RowMapping, bindparam, delete, func, insert, select, tuple_, update

from gluepot.service.decisions.metrics import Metric, Minute, Statistics
from gluepot.service.store.tables import metric_minutes, metric_reports, metrics

# SQLite takes 32,766 values in a statement; a key of a minute has three.
_AT_ONCE = 1000
_KEY = ("of_metric", "of_minute", "of_unit")


class MetricRows:
    """Metrics and their data, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, minutes: Sequence[Minute]) -> None:
        """Add data to what there is.

        No other service may add any at the same time (`Changes.alone`).

        Args:
            minutes: each metric, minute and unit at most once.
        """
        for first in range(0, len(minutes), _AT_ONCE):
            self._add(minutes[first : first + _AT_ONCE])

    def after(self, number: int, most: int, namespace: str = "", name: str = "") -> list[tuple[int, int, Metric]]:
        """Return metrics with their numbers and the minutes of their newest data, in the order of the numbers.

        Args:
            number: the one that precedes the first one.
            most: the largest number of metrics.
            namespace: only metrics of this namespace; empty for all.
            name: only metrics of this name; empty for all.
        """
        query = select(metrics).where(metrics.c.number > number).order_by(metrics.c.number).limit(most)
        if namespace:
            query = query.where(metrics.c.namespace == namespace)
        if name:
            query = query.where(metrics.c.name == name)
        rows = self._connection.execute(query).mappings()
        return [(row["number"], row["newest_ms"], _metric(row)) for row in rows]

    def minutes(
        self, metric: Metric, begin_ms: int, end_ms: int, unit: str = "", *, with_values: bool = True
    ) -> list[Minute]:
        """Return the data of a metric, the earliest first.

        Args:
            metric: the metric.
            begin_ms: of the first minute.
            end_ms: before which the last minute begins.
            unit: only data in this unit; empty for all.
            with_values: also read how often each value was reported, which takes most of the time.
        """
        number = select(metrics.c.number).where(metrics.c.digest == _digest(metric)).scalar_subquery()
        rows = metric_minutes.c
        query = select(metric_minutes).where(rows.metric == number, rows.at_ms >= begin_ms, rows.at_ms < end_ms)
        if unit:
            query = query.where(rows.unit == unit)
        found = self._connection.execute(query.order_by(rows.at_ms, rows.unit)).mappings()
        return [Minute(metric, row["at_ms"], row["unit"], _statistics(row, with_values=with_values)) for row in found]

    def totals(self, wanted: Sequence[Metric]) -> dict[Metric, float]:
        """Return the sums of all that was reported of some metrics; a metric without data is left out."""
        digests = {_digest(metric): metric for metric in wanted}
        rows = metric_minutes.c
        query = select(metrics.c.digest, func.sum(rows.total)).join(metric_minutes, rows.metric == metrics.c.number)
        query = query.where(metrics.c.digest.in_(list(digests))).group_by(metrics.c.digest)
        return {digests[digest]: total for digest, total in self._connection.execute(query)}

    def reported(self, run_id: str) -> int:
        """Return the number of the last report of a run that was taken; 0 for none."""
        query = select(metric_reports.c.number).where(metric_reports.c.run == run_id)
        return self._connection.execute(query).scalar() or 0

    def note_reported(self, run_id: str, number: int) -> None:
        """Note that a report of a run was taken."""
        of_run = update(metric_reports).where(metric_reports.c.run == run_id).values(number=number)
        if not self._connection.execute(of_run).rowcount:
            self._connection.execute(insert(metric_reports).values(run=run_id, number=number))

    def forget_reports(self, run_ids: Sequence[str]) -> None:
        """Forget the reports of runs."""
        self._connection.execute(delete(metric_reports).where(metric_reports.c.run.in_(run_ids)))

    def forget(self, before_ms: int) -> None:
        """Remove the data before a moment, and metrics that have no other."""
        self._connection.execute(delete(metric_minutes).where(metric_minutes.c.at_ms < before_ms))
        self._connection.execute(delete(metrics).where(metrics.c.newest_ms < before_ms))

    def _add(self, minutes: Sequence[Minute]) -> None:
        numbers = self._numbers(minutes)
        keys = [(numbers[one.metric], one.at_ms, one.unit) for one in minutes]
        rows = metric_minutes.c
        known = select(metric_minutes).where(tuple_(rows.metric, rows.at_ms, rows.unit).in_(keys))
        before = {
            (row["metric"], row["at_ms"], row["unit"]): _statistics(row)
            for row in self._connection.execute(known).mappings()
        }
        new, changed = [], []
        for key, one in zip(keys, minutes, strict=True):
            if key in before:
                values = _columns(before[key].with_more(one.statistics))
                changed.append({**dict(zip(_KEY, key, strict=True)), **values})
            else:
                new.append({"metric": key[0], "at_ms": key[1], "unit": key[2], **_columns(one.statistics)})
        if new:
            self._connection.execute(insert(metric_minutes), new)
        if changed:
            at = [
                column == bindparam(name)
                for name, column in zip(_KEY, (rows.metric, rows.at_ms, rows.unit), strict=True)
            ]
            self._connection.execute(update(metric_minutes).where(*at), changed)

    def _numbers(self, minutes: Sequence[Minute]) -> dict[Metric, int]:
        """Return the numbers of metrics, and note how new their data is; metrics that are not known are added."""
        newest: dict[Metric, int] = {}
        for one in minutes:
            newest[one.metric] = max(newest.get(one.metric, 0), one.at_ms)
        digests = {_digest(metric): metric for metric in newest}
        query = select(metrics.c.digest, metrics.c.newest_ms).where(metrics.c.digest.in_(list(digests)))
        known = {digest: newest_ms for digest, newest_ms in self._connection.execute(query)}  # noqa: C416  rows are no pairs to mypy
        if added := [
            {
                "namespace": metric.namespace,
                "name": metric.name,
                "dimensions": json.dumps(metric.dimensions),
                "digest": digest,
                "newest_ms": newest[metric],
            }
            for digest, metric in digests.items()
            if digest not in known
        ]:
            self._connection.execute(insert(metrics), added)
        for digest, metric in digests.items():
            if newest[metric] > known.get(digest, newest[metric]):
                changed = update(metrics).where(metrics.c.digest == digest)
                self._connection.execute(changed.values(newest_ms=newest[metric]))
        numbered = select(metrics.c.digest, metrics.c.number).where(metrics.c.digest.in_(list(digests)))
        return {digests[digest]: number for digest, number in self._connection.execute(numbered)}


def _digest(metric: Metric) -> str:
    return hashlib.sha256(json.dumps([metric.namespace, metric.name, metric.dimensions]).encode()).hexdigest()


def _metric(row: RowMapping) -> Metric:
    pairs = tuple((name, value) for name, value in json.loads(row["dimensions"]))
    return Metric(row["namespace"], row["name"], pairs)


def _statistics(row: RowMapping, *, with_values: bool = True) -> Statistics:
    distribution = dict(json.loads(row["distribution"])) if with_values and row["distribution"] else {}
    return Statistics(row["samples"], row["total"], row["least"], row["most"], distribution)


def _columns(one: Statistics) -> dict[str, float | str]:
    distribution = json.dumps(list(one.distribution.items())) if one.distribution else ""
    return {
        "samples": one.samples,
        "total": one.total,
        "least": one.least,
        "most": one.most,
        "distribution": distribution,
    }
