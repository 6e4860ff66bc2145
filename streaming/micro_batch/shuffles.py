"""The number of shuffle partitions for micro-batches: Spark's 200 suit large batch jobs (decision 0023)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pyspark.sql import SparkSession

from gluepot.core.logging import get_logger
from gluepot.spark.settings import settings_of
from gluepot.streaming.observe.capacity import is_local, local_slots

SETTING = "spark.sql.shuffle.partitions"
# The shuffle partitions for each slot. Adaptive execution coalesces partitions of unequal size into even tasks.
PER_SLOT = 4

log = get_logger(__name__)


def shuffle_partitions(master: str, cpus: int, settings: Mapping[str, str]) -> int | None:
    """Return the number of shuffle partitions for micro-batches; None if the session's setting stays as it is.

    On one machine the number follows from the task slots, as Glue derives it from its workers (docs/glue 10.2). On a
    cluster Spark's setting stays, because some workers may not have started yet.

    Args:
        master: Spark's master URL.
        cpus: processors of this machine.
        settings: the session's settings that `--conf` or the script set.
    """
    if SETTING in settings or not is_local(master):
        return None
    return PER_SLOT * local_slots(master, cpus)


def suit_batches(spark: SparkSession) -> None:
    """Set a session's shuffle partitions to suit micro-batches; the setting stays after the stream has ended."""
    wanted = shuffle_partitions(str(spark.sparkContext.master), os.cpu_count() or 1, settings_of(spark))
    if wanted is not None:
        spark.conf.set(SETTING, wanted)
        log.info("shuffle_partitions_set", partitions=wanted)
