"""The counter that continues where the last run of a query ended, because it comes from the tables' manifests."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from gluepot.streaming.observe.metric_names import MOST_LABEL_VALUES, PREFIX, ROWS_COMMITTED


class CommittedRows(Collector):
    """Exposes the rows that queries have in tables. Safe to use from any thread; waits for no batch.

    Unlike the library's counters, this exposes no `_created`. The numbers did not begin at 0 with this process, and a
    server that takes the time of creation for the time of zero would count all rows as new.

    Args:
        job: value of the label `job`.
    """

    def __init__(self, job: str) -> None:
        self._job = job
        self._rows: dict[str, dict[str, int]] = {}
        self._turn = threading.Lock()

    def take(self, query: str, rows_in_table: Mapping[str, int]) -> None:
        """Update the rows of the tables that a batch wrote to.

        Args:
            query: the name of the query.
            rows_in_table: rows by URL of the table. Only the tables written to last are shown, because scripts that
                begin a new folder every hour have many.
        """
        with self._turn:
            known = self._rows.get(query, {})
            others = {table: rows for table, rows in known.items() if table not in rows_in_table}
            self._rows[query] = dict([*others.items(), *rows_in_table.items()][-MOST_LABEL_VALUES:])

    def describe(self) -> Iterator[Metric]:
        """Yield the metric without samples."""
        yield self._family()

    def collect(self) -> Iterator[Metric]:
        """Yield the known rows; a query is absent before its first batch, because unknown is not the same as 0."""
        family = self._family()
        with self._turn:
            for query, rows_in_table in self._rows.items():
                for table, rows in rows_in_table.items():
                    family.add_metric((self._job, query, table), rows)
        yield family

    def _family(self) -> CounterMetricFamily:
        return CounterMetricFamily(PREFIX + ROWS_COMMITTED.name, ROWS_COMMITTED.help, labels=ROWS_COMMITTED.labels)
