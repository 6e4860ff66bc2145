"""Opens the ops server of a run. Imported by runs that want one: its libraries take their time to load."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from prometheus_client import CollectorRegistry

from gluepot.job_parameters import JobParameters
from gluepot.ops.access import checked_token
from gluepot.ops.configuration import arguments_by_name, without_secrets
from gluepot.ops.jvm import java_heap
from gluepot.ops.memory import usage_by_role
from gluepot.ops.moment import Moment
from gluepot.ops.pages import Job, application
from gluepot.ops.server import Server, serve
from streaming.metrics import StreamMetrics
from streaming.session import StreamSession

_TAKEN_APART = frozenset({"conf", "customer-driver-env-vars", "customer-executor-env-vars"})
"""Arguments that pack several settings into one; shown as what was read of them."""


@dataclass(frozen=True, slots=True)
class OpsSettings:
    """How a job is looked into.

    Args:
        port: 0 for a free one.
        host: address to listen on.
        token: what readers must bring, or a reference to it; None for nothing, on loopback only.
        by_partition: show lag by partition, too.
    """

    port: int = 0
    host: str = "127.0.0.1"
    token: str | None = field(default=None, repr=False)
    by_partition: bool = False


def start(settings: OpsSettings, parameters: JobParameters, run: Mapping[str, Any], streams: StreamSession) -> Server:
    """Serve the pages of a run, and let its queries report to them.

    Args:
        settings: where.
        parameters: of the job.
        run: the run's own settings by name, for `/config`.
        streams: whose queries are shown; gets its metrics.

    Raises:
        ConfigError: the address cannot be used, or needs a token.
    """
    token = checked_token(settings.host, settings.token, os.environ)
    registry = CollectorRegistry()
    streams.metrics = StreamMetrics(registry, parameters.job_name, by_partition=settings.by_partition)
    driver_pid = os.getpid()
    registry.register(
        Moment(
            parameters.job_name,
            streams.status.queries,
            lambda: usage_by_role(driver_pid),
            java_heap,
            streams.clock.epoch,
        )
    )
    job = Job(
        registry=registry,
        queries=streams.status.queries,
        stopping=streams.stop.is_set,
        version={
            "gluepot": version("gluepot"),
            "glue": parameters.glue_version,
            "spark": version("pyspark"),
            "python": platform.python_version(),
        },
        config=without_secrets(_configuration(parameters, run)),
        clock=streams.clock,
    )
    return serve(application(job, token), settings.host, settings.port)


def _configuration(parameters: JobParameters, run: Mapping[str, Any]) -> dict[str, Any]:
    arguments = arguments_by_name(parameters.argv[1:])
    return {
        "run": dict(run),
        "arguments": {name: value for name, value in arguments.items() if name not in _TAKEN_APART},
        "conf": dict(parameters.conf),
        "driver_env_vars": dict(parameters.driver_env_vars),
        "executor_env_vars": dict(parameters.executor_env_vars),
    }
