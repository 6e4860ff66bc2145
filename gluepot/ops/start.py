"""Opens the ops server of a run. Only runs that want one import this, because its libraries load slowly."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from prometheus_client import CollectorRegistry

from gluepot.core.job_parameters import JobParameters
from gluepot.core.logging import heard_by
from gluepot.core.masking import mask
from gluepot.ops.access import checked_token
from gluepot.ops.cloudwatch import GlueNames
from gluepot.ops.configuration import arguments_by_name
from gluepot.ops.jvm import java_heap
from gluepot.ops.memory import usage_by_role
from gluepot.ops.moment import Moment
from gluepot.ops.page.checks import LatestChecks
from gluepot.ops.page.history import History
from gluepot.ops.page.log_tail import LogTail
from gluepot.ops.page.origins import RunOption, changed_first, of_job, of_run
from gluepot.ops.page.view import Observed
from gluepot.ops.pages import Job, application
from gluepot.ops.server import Server, serve
from gluepot.streaming.advisor.advice import Advice
from gluepot.streaming.observe.metrics import StreamMetrics
from gluepot.streaming.query.session import StreamSession

# Arguments that contain several settings; the page shows the settings that were read from them instead.
_TAKEN_APART = frozenset({"conf", "customer-driver-env-vars", "customer-executor-env-vars"})


@dataclass(frozen=True, slots=True)
class OpsSettings:
    """The settings of the ops server.

    Args:
        port: port to listen on; 0 for a free one.
        host: address to listen on.
        token: the token that readers must send, or a reference to it; None for none, which only loopback allows.
        by_partition: whether to show lag by partition, too.
        cloudwatch_names: whether to show AWS Glue's own metrics, too.
    """

    port: int = 0
    host: str = "127.0.0.1"
    token: str | None = field(default=None, repr=False)
    by_partition: bool = False
    cloudwatch_names: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """The ops server of a run, and its subscriptions to batches and log lines.

    Args:
        server: the server.
        registry: the metrics that it shows.
        _listening: ends the subscriptions.
    """

    server: Server
    registry: CollectorRegistry
    _listening: ExitStack

    def stop(self) -> None:
        """Close the port."""
        self.server.stop()
        self._listening.close()


def start(
    settings: OpsSettings,
    parameters: JobParameters,
    run: Sequence[RunOption],
    streams: StreamSession,
    advice: Callable[[str], Advice | None] | None = None,
) -> Opened:
    """Serve the pages of a run, and let its queries report to them.

    Args:
        settings: settings of the server.
        parameters: parameters of the job.
        run: options of the run.
        streams: the session whose queries are shown, paused and stopped; this sets its metrics and a watcher.
        advice: returns the newest advice on a query; None if there is no advisor.

    Raises:
        ConfigError: the address cannot be used, or needs a token.
    """
    token = checked_token(settings.host, settings.token, os.environ)
    registry = registered(settings, parameters, streams)
    versions = {
        "gluepot": version("gluepot"),
        "glue": parameters.glue_version,
        "spark": version("pyspark"),
        "python": platform.python_version(),
    }
    config = mask(_configuration(parameters, {one.name: one.value for one in run}))
    page = Observed(
        name=parameters.job_name,
        run_id=parameters.run_id[:12],
        streams=streams,
        history=History(),
        log=LogTail(),
        checks=LatestChecks(),
        settings=changed_first([*of_run(run, config["run"], os.environ), *of_job(config)]),
        version=versions,
        advice=advice,
    )
    job = Job(
        registry=registry,
        queries=streams.status.queries,
        stopping=streams.stop.is_set,
        version=versions,
        config=config,
        clock=streams.clock,
        page=page,
    )
    server = serve(application(job, token), settings.host, settings.port)
    streams.watchers.append(page.history.update)
    streams.check_watchers.append(page.checks.update)
    listening = ExitStack()
    listening.enter_context(heard_by(page.log.take))
    return Opened(server, registry, listening)


def registered(settings: OpsSettings, parameters: JobParameters, streams: StreamSession) -> CollectorRegistry:
    """Return the metrics of a run, and let its queries report to them.

    Args:
        settings: settings that choose the metrics.
        parameters: parameters of the job.
        streams: the session whose queries are measured; this sets its metrics.
    """
    registry = CollectorRegistry()
    metrics = streams.metrics = StreamMetrics(registry, parameters.job_name, by_partition=settings.by_partition)
    streams.check_watchers.append(metrics.checked)
    driver_pid = os.getpid()
    registry.register(
        Moment(
            parameters.job_name,
            streams.status.queries,
            lambda: usage_by_role(driver_pid),
            java_heap,
            streams.clock.epoch,
            _task_events,
            lambda: streams.upstream_ages_secs,
        )
    )
    if settings.cloudwatch_names:
        names = GlueNames(parameters.job_name, parameters.run_id, streams.clock.epoch)
        registry.register(names)
        streams.watchers.append(names.update)
        streams.check_watchers.append(names.checked)
    return registry


def _task_events() -> Mapping[str, int]:
    """Return the events of tasks; no task has run if the module that runs them is not loaded."""
    reports = sys.modules.get("gluepot.engine.task_reports")
    return {} if reports is None else reports.REPORTS.counts()


def _configuration(parameters: JobParameters, run: Mapping[str, Any]) -> dict[str, Any]:
    arguments = arguments_by_name(parameters.argv[1:])
    return {
        "run": dict(run),
        "arguments": {name: value for name, value in arguments.items() if name not in _TAKEN_APART},
        "conf": dict(parameters.conf),
        "driver_env_vars": dict(parameters.driver_env_vars),
        "executor_env_vars": dict(parameters.executor_env_vars),
    }
