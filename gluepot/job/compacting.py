"""Compacts the tables that a running job writes, in a thread beside its batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from uuid import uuid4

from gluepot.core.clock import Clock
from gluepot.core.logging import get_logger
from gluepot.core.storage import open_storage
from gluepot.streaming.progress import BatchStats
from gluepot.streaming.side_tasks import Failed, side_task, warn
from gluepot.tables.compact import Compacted, CompactSettings, Refused, compact

_TASK = "compaction"

log = get_logger(__name__)


class Due:
    """Decides which tables are due for compaction.

    Args:
        every_batches: how many batches write to a table between two compactions of it.
    """

    def __init__(self, every_batches: int) -> None:
        self._every_batches = every_batches
        self._batches: Counter[str] = Counter()

    def after(self, stats: BatchStats) -> list[str]:
        """Count a batch; return the URLs of the tables that are due."""
        written = {file.root for file in stats.written if not file.rejects}
        self._batches.update(written)
        due = [table for table in sorted(written) if self._batches[table] >= self._every_batches]
        for table in due:
            del self._batches[table]
        return due


@contextmanager
def compacting(every_batches: int, clock: Clock, failed: Failed = warn) -> Iterator[Callable[[BatchStats], None]]:
    """Yield a function to call after each batch. At the end, wait for a compaction that is running.

    Tables are compacted one at a time. A table that is due again before its compaction has ended is left for later.
    Errors do not fail a batch.

    Args:
        every_batches: that wrote to a table, from one compaction of it to the next.
        clock: for the records.
        failed: told what goes wrong.
    """
    due, running = Due(every_batches), dict[str, Future[None]]()
    with ThreadPoolExecutor(1, thread_name_prefix="gluepot-compacting") as pool:

        @side_task(_TASK)
        def watch(stats: BatchStats) -> None:
            for table in due.after(stats):
                if table not in running or running[table].done():
                    running[table] = pool.submit(partial(_compact, table, clock, partial(failed, stats.query, _TASK)))

        yield watch


def _compact(table: str, clock: Clock, failed: Callable[[Exception], object]) -> None:
    try:
        outcomes = list(compact(open_storage(table), CompactSettings(), clock, uuid4().hex[:12]))
    except Exception as error:  # noqa: BLE001  the job goes on, and so will the next compaction
        log.warning("not_compacted", table=table, reason=str(error))
        failed(error)
        return
    done = [one for one in outcomes if isinstance(one, Compacted)]
    for one in outcomes:
        if isinstance(one, Refused):
            log.warning("file_not_compacted", table=table, file=one.path, reason=one.message)
    files, before, after = (
        sum(getattr(one, name) for one in done) for name in ("files", "bytes_before", "bytes_after")
    )
    log.info("compacted", table=table, files=files, into=len(done), bytes_before=before, bytes_after=after)
