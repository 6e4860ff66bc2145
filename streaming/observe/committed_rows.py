"""The counter that goes on where the last run of a query ended, because it is what the tables' manifests say."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from gluepot.streaming.observe.metric_names import MOST_LABEL_VALUES, PREFIX, ROWS_COMMITTED


class CommittedRows(Collector):
    """Shows the rows that queries have in tables. Safe to use from any thread; waits for no batch.

    No `_created` is exposed, as a library's counter does it: these numbers did not begin with this process, and a
    server that takes the time of creation for the time of zero would see them all as new.

    Args:
        job: value of the label `job`.
    """

    def __init__(self, job: str) -> None:
        self._job = job
        self._rows: dict[str, dict[str, int]] = {}
        self._turn = threading.Lock()

    def take(self, query: str, rows_in_table: Mapping[str, int]) -> None:
        """Take in what a batch made of the tables it wrote to.

        Args:
            query: its name.
            rows_in_table: by URL. Scripts that begin a folder an hour have many of them: those written to last are
                shown.
        """
        with self._turn:
            known = self._rows.get(query, {})
            others = {table: rows for table, rows in known.items() if table not in rows_in_table}
            self._rows[query] = dict([*others.items(), *rows_in_table.items()][-MOST_LABEL_VALUES:])

    def describe(self) -> Iterator[Metric]:
        """Yield the name alone."""
        yield self._family()

    def collect(self) -> Iterator[Metric]:
        """Yield what is known; nothing of a query before its first batch, which is not the same as 0."""
        family = self._family()
        with self._turn:
            for query, rows_in_table in self._rows.items():
                for table, rows in rows_in_table.items():
                    family.add_metric((self._job, query, table), rows)
        yield family

    def _family(self) -> CounterMetricFamily:
        return CounterMetricFamily(PREFIX + ROWS_COMMITTED.name, ROWS_COMMITTED.help, labels=ROWS_COMMITTED.labels)
