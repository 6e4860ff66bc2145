"""Gluepot's side: the calls a Glue script makes, nothing else; or these without a guarantee, or looked at."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

from pyspark.conf import SparkConf
from pyspark.context import SparkContext

from awsglue.context import GlueContext
from benchmarks.drain.checked import RULESETS, checked
from benchmarks.drain.unsafe import unsafe
from benchmarks.drain.watched import watched
from benchmarks.ours import by_country, for_each_batch, json_stream
from benchmarks.side import Drain, master_of, serve
from gluepot.streaming.query import session
from gluepot.streaming.query.session import StreamSession

WAYS: Mapping[str, Callable[[StreamSession, str], AbstractContextManager[object]]] = {
    "": lambda *_: nullcontext(),
    "unsafe": lambda *_: unsafe(),
    "watched": watched,
    "near-s3": lambda *_: nullcontext(),
    "s3": lambda *_: nullcontext(),
}
"""What is around a drain, given its services and the machine of the session. A ruleset is a way, too."""
BUCKET = "lake"
"""Where the ways `near-s3` and `s3` have their table."""


def main(bootstrap: str, topic: str, batch_rows: str, machine: str, _shape: str) -> None:
    """Drain with `forEachBatch`, schema unknown, in the way asked for; services are made for each drain."""
    glue_context = GlueContext(SparkContext(conf=SparkConf().setMaster(master_of(machine))))

    def drain(given: Drain) -> float:
        frame = json_stream(glue_context, bootstrap, topic, maxOffsetsPerTrigger=batch_rows)
        services = StreamSession(job="drain", drain=session.Drain(until_caught_up=True))
        write = by_country(glue_context, f"s3://{BUCKET}/table" if given.way.endswith("s3") else given.table)
        if given.way in RULESETS:
            write = checked(RULESETS[given.way], write)
        with WAYS.get(given.way, WAYS[""])(services, machine):
            session.install(services)
            return for_each_batch(glue_context, frame, given.checkpoint, write)

    serve(drain)


if __name__ == "__main__":
    main(*sys.argv[1:])
