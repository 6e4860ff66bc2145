"""Advises on workers in every run, and scales them with `--enable-auto-scaling` if the master allows it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError
from gluepot.core.job_parameters import JobParameters
from gluepot.core.logging import get_logger
from gluepot.job.executors import SLOTS
from gluepot.streaming.advisor import AdviceLog, AdvisorSettings
from gluepot.streaming.observe.capacity import local_slots
from gluepot.streaming.side_tasks import Failed, warn

if TYPE_CHECKING:
    from pyspark import SparkContext

log = get_logger(__name__)


def advisor(
    master: str,
    parameters: JobParameters,
    path: Path | None,
    chosen: Mapping[str, str],
    clock: Clock,
    ended: Callable[[], Collection[str]] = tuple,
    failed: Failed = warn,
) -> AdviceLog:
    """Return what watches the batches of a run.

    Args:
        master: Spark master; on a local one the one process is one worker, and that more would help is advice only.
        parameters: of the job.
        path: of the advice log; None for none.
        chosen: fields of `AdvisorSettings`.
        clock: for the cool-down.
        ended: tells which queries of the job have ended.
        failed: told what goes wrong with following advice.

    Raises:
        ConfigError: a setting is wrong, or nothing says how many cores a worker of a cluster has.
    """
    if master.startswith("local"):
        if parameters.enable_auto_scaling:
            log.info("auto_scaling_is_advice_only", master=master)
        return AdviceLog(path, lambda: 1, _settings(chosen, local_slots(master, os.cpu_count() or 1)), failed=failed)

    from gluepot.streaming.scaling import Scaler, SparkCluster  # noqa: PLC0415  loads PySpark, which a local job does later

    settings = _settings(chosen, cluster_slots(parameters))
    cluster = SparkCluster(_running_context)
    if not parameters.enable_auto_scaling:
        return AdviceLog(path, cluster.workers, settings, failed=failed)
    scaler = Scaler(cluster, settings, clock, ended)
    followers = [scaler.follow]
    return AdviceLog(path, cluster.workers, settings, ordered=cluster.ordered, followers=followers, failed=failed)


def cluster_slots(parameters: JobParameters) -> int:
    """Return the tasks that a worker of a cluster runs at a time; ConfigError if nothing says it."""
    given = str(parameters.executor_cores or parameters.conf.get(SLOTS, ""))
    if not given.isdecimal() or not int(given):
        raise ConfigError(
            f"Workers of a cluster are counted by their cores, and {SLOTS} is {given!r}; give --executor-cores after"
            " `--`, for example 4."
        )
    return int(given)


def _running_context() -> SparkContext:
    from pyspark import SparkContext  # noqa: PLC0415  not before the environment is ready

    context = SparkContext._active_spark_context  # noqa: SLF001
    assert context is not None  # a batch was committed on it
    return context


def _settings(chosen: Mapping[str, str], slots: int) -> AdvisorSettings:
    try:
        return AdvisorSettings.model_validate({"slots_per_worker": slots, **chosen})
    except ValidationError as wrong:
        first = wrong.errors()[0]
        name = ".".join(map(str, first["loc"])) or "settings"
        raise ConfigError(f"--advisor {name} is {first['input']!r}: {first['msg']}.") from wrong
