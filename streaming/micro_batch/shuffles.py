"""How many pieces a batch is shuffled into: Spark's 200 are for nights of data, not for seconds (decision 0023)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pyspark.sql import SparkSession

from gluepot.core.logging import get_logger
from gluepot.streaming.observe.capacity import is_local, local_slots

SETTING = "spark.sql.shuffle.partitions"
PER_SLOT = 4
"""Adaptive execution makes tasks of equal size from pieces that are not."""

log = get_logger(__name__)


def shuffle_partitions(master: str, cpus: int, settings: Mapping[str, str]) -> int | None:
    """Return the pieces that suit the batches of a session, None where its setting is to stay as it is.

    On one machine they follow from its task slots, as Glue derives them from its workers (docs/glue 10.2). A cluster
    keeps Spark's: its workers may still be to come.

    Args:
        master: Spark's.
        cpus: processors of this machine.
        settings: what the session was told, by `--conf` or by the script.
    """
    if SETTING in settings or not is_local(master):
        return None
    return PER_SLOT * local_slots(master, cpus)


def suit_batches(spark: SparkSession) -> None:
    """Let the shuffles of a session suit micro-batches; this stays when the stream has ended."""
    wanted = shuffle_partitions(str(spark.sparkContext.master), os.cpu_count() or 1, spark.conf.getAll)
    if wanted is not None:
        spark.conf.set(SETTING, wanted)
        log.info("shuffle_partitions_set", partitions=wanted)
