"""Our drain with all that looks at a job: metrics by partition, names of Glue, page, advisor; asked for all the time.

Prometheus asks every 15 s and an open page every 2 s; here both are asked every second, by a thread of the same
process, whose time counts.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import urlopen

from benchmarks.side import master_of
from gluepot.core.glue_version import DEFAULT
from gluepot.core.job_parameters import JobParameters
from gluepot.job.scaling import advisor
from gluepot.ops.start import OpsSettings, start
from gluepot.streaming.query.session import StreamSession

ASKED_EVERY_SECS = 1.0


@contextmanager
def watched(streams: StreamSession, machine: str) -> Iterator[None]:
    """Look at a run from every side."""
    parameters = JobParameters.parse(["drain.py", "--JOB_NAME", streams.job], DEFAULT)
    advice = advisor(master_of(machine), parameters, None, {}, streams.clock)
    streams.watchers.append(advice.update)
    opened = start(OpsSettings(by_partition=True, cloudwatch_names=True), parameters, [], streams, advice.newest)
    assert streams.metrics is not None  # made by `start`
    advice.followers.append(streams.metrics.advise)
    ended = threading.Event()

    def ask() -> None:
        while not ended.wait(ASKED_EVERY_SECS):
            for url in (opened.server.url, opened.server.page_url):
                with urlopen(url) as answer:
                    answer.read()

    def close() -> None:
        ended.set()
        asking.join()
        opened.stop()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        # What waits for the last answers and closes sockets is no part of a drain, which has ended.
        threading.Thread(target=close).start()
