"""`gluepot run`: a job script in the environment AWS Glue gives it."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry

from etlcore.errors import ConfigError
from etlcore.glue_version import DEFAULT as DEFAULT_GLUE_VERSION
from etlcore.logging import bind_process, get_logger
from etlcore.spark_env import prepare
from gluepot.job_parameters import JobParameters
from gluepot.spark_conf import job_conf, properties_text
from streaming import session
from streaming.lease import TTL_SECS
from streaming.metrics import StreamMetrics
from streaming.metrics_server import serve
from streaming.session import ENDLESS, Drain, StreamSession
from streaming.settings import OnBatchFailure
from streaming.stopping import stop_on_signals

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a script is run.

    Args:
        script: the job script.
        arguments: what the script finds in `sys.argv`, after its own name.
        master: Spark master.
        glue_version: whose behaviour a script sees.
        connections: connections file; None to look in the usual places.
        metrics_port: port of the metrics page; None for none, 0 for a free one.
        metrics_host: address it listens on.
        drain: when streams end by themselves.
        lease_secs: after how long without a sign of life another driver may take a stream over.
        on_batch_failure: what follows when the retries of a batch are used up, unless the script says it.
        advice_log: file that observations and advice are appended to after each batch; None for none.
        live: show one live line per query.
    """

    script: Path
    arguments: Sequence[str] = ()
    master: str = "local[*]"
    glue_version: str | None = None
    connections: Path | None = None
    metrics_port: int | None = None
    metrics_host: str = "127.0.0.1"
    drain: Drain = ENDLESS
    lease_secs: float = TTL_SECS
    on_batch_failure: OnBatchFailure = "fail"
    advice_log: Path | None = None
    live: bool = False


def run(settings: RunSettings, streams: StreamSession | None = None) -> None:
    """Run a script to its end, in this process.

    Args:
        settings: how.
        streams: a session prepared by the caller, who may watch it or end it; None makes one.

    Raises:
        ConfigError: the script is not there, or a parameter is wrong.
        Exception: whatever the script raised.
    """
    if not settings.script.is_file():
        raise ConfigError(f"There is no script {settings.script}; give the path of a Python file.")
    if settings.advice_log and not settings.master.startswith("local"):
        raise ConfigError(f"--advice-log counts workers on local masters only; --master is {settings.master}.")
    argv = [str(settings.script), *settings.arguments]
    parameters = JobParameters.parse(argv, settings.glue_version or DEFAULT_GLUE_VERSION)
    bind_process(job=parameters.job_name, run_id=parameters.run_id[:12])
    for ignored in parameters.ignored:
        log.info("parameter_ignored", parameter=ignored.name, reason=ignored.reason)
    streams = streams or StreamSession()
    streams.job, streams.drain, streams.lease_secs = parameters.job_name, settings.drain, settings.lease_secs
    streams.on_batch_failure = settings.on_batch_failure
    with ExitStack() as stack:
        stack.enter_context(_environment(parameters, settings))
        if settings.metrics_port is not None or parameters.enable_metrics:
            registry = CollectorRegistry()
            streams.metrics = StreamMetrics(registry, parameters.job_name)
            server = serve(registry, settings.metrics_host, settings.metrics_port or 0)
            stack.callback(server.stop)
            log.info("metrics", url=server.url)
        if settings.advice_log:
            from streaming.advisor import AdviceLog, AdvisorSettings  # noqa: PLC0415  numpy takes its time to load

            # The one process is one worker with so many slots; that more would help is advice too.
            slots = AdvisorSettings(slots_per_worker=local_slots(settings.master, os.cpu_count() or 1))
            advice = AdviceLog(settings.advice_log, lambda: 1, slots)
            streams.watchers.append(advice.update)
        if settings.live:
            from rich.console import Console  # noqa: PLC0415  nothing else needs it, and it takes its time to load

            from gluepot.live import LiveView  # noqa: PLC0415

            streams.watchers.append(stack.enter_context(LiveView(Console(stderr=True))).update)
        session.install(streams)
        stack.callback(_stop_spark)
        with stop_on_signals(streams), _arguments(parameters.argv), _import_path(settings.script):
            runpy.run_path(str(settings.script), run_name="__main__")


def local_slots(master: str, cpus: int) -> int:
    """Return the tasks that a local master runs at a time: `local` 1, `local[4]` and `local[4,2]` 4, `local[*]` all."""
    given = re.fullmatch(r"local\[(\d+|\*)(,.*)?\]", master)
    if given is None:
        return 1
    return cpus if given[1] == "*" else max(1, int(given[1]))


@contextmanager
def _environment(parameters: JobParameters, settings: RunSettings) -> Iterator[None]:
    """Set what the driver's process hands to Spark, and take it back."""
    folder = Path(tempfile.mkdtemp(prefix="gluepot-conf-"))
    properties = folder / "spark.properties"
    properties.write_text(properties_text(job_conf(parameters, settings.master)))
    before = dict(os.environ)
    os.environ.pop("SPARK_REMOTE", None)  # a classic session, as Glue's
    os.environ["GLUEPOT_GLUE_VERSION"] = parameters.glue_version
    if settings.connections:
        os.environ["GLUEPOT_CONNECTIONS"] = str(settings.connections)
    os.environ.update(parameters.driver_env_vars)
    prepare(os.environ, properties)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _arguments(argv: Sequence[str]) -> Iterator[None]:
    before = sys.argv
    sys.argv = list(argv)
    try:
        yield
    finally:
        sys.argv = before


@contextmanager
def _import_path(script: Path) -> Iterator[None]:
    """Let the script import its neighbours, after our own packages, and say which of them are hidden by ours."""
    folder = script.resolve().parent
    ours = ("awsglue", "awsglueml", "gluepot", "streaming", "batch", "connectors", "dynamicframe", "catalog", "etlcore")
    for name in ours:
        if (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists():
            log.warning(
                "module_shadowed", module=name, folder=str(folder), hint="rename it; Gluepot has one of that name"
            )
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _stop_spark() -> None:
    from pyspark import SparkContext  # noqa: PLC0415  not before the environment is ready

    context = SparkContext._active_spark_context  # noqa: SLF001
    if context is not None:
        context.stop()
