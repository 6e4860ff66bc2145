"""Gluepot's side: the calls a Glue script makes, nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from pyspark.conf import SparkConf
from pyspark.context import SparkContext

from awsglue.context import GlueContext
from benchmarks.ours import by_country, for_each_batch, json_stream
from benchmarks.side import Drain, serve
from streaming import session
from streaming.session import StreamSession

DRAIN = session.Drain(until_caught_up=True)


@contextmanager
def unwatched() -> Iterator[StreamSession]:
    """Give the services of a run that nobody looks at."""
    yield StreamSession(drain=DRAIN)


def main(
    bootstrap: str,
    topic: str,
    batch_rows: str,
    cores: str,
    _shape: str,
    opened: Callable[[], AbstractContextManager[StreamSession]] = unwatched,
) -> None:
    """Drain with `forEachBatch`, exactly-once, schema unknown; a session is opened for each drain."""
    glue_context = GlueContext(SparkContext(conf=SparkConf().setMaster(f"local[{cores}]")))

    def drain(given: Drain) -> float:
        frame = json_stream(glue_context, bootstrap, topic, maxOffsetsPerTrigger=batch_rows)
        with opened() as services:
            session.install(services)
            return for_each_batch(glue_context, frame, given.checkpoint, by_country(glue_context, given.table))

    serve(drain)


if __name__ == "__main__":
    main(*sys.argv[1:])
