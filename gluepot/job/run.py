"""`gluepot run`: a job script in the environment AWS Glue gives it."""

from __future__ import annotations

import os
import runpy
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import MISSING, dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluepot.connectors.lake import AWS, localized
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError
from gluepot.core.glue_version import DEFAULT as DEFAULT_GLUE_VERSION
from gluepot.core.job_parameters import JobParameters
from gluepot.core.logging import bind_process, get_logger
from gluepot.datalake import archives_of, with_formats
from gluepot.job.endings import AtEnd, lineage_until_end, push_at_end
from gluepot.job.spark_conf import job_conf, properties_text
from gluepot.spark import early_jvm
from gluepot.spark.spark_env import prepare
from gluepot.streaming.checkpoints.lease import TTL_SECS
from gluepot.streaming.query import session
from gluepot.streaming.query.session import ENDLESS, Drain, StreamSession
from gluepot.streaming.query.stopping import stop_on_signals

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from gluepot.job.custom_transforms import CustomTransform
    from gluepot.ops.start import Opened, OpsSettings
    from gluepot.streaming.advisor import AdviceLog
    from gluepot.streaming.settings import OnBatchFailure

log = get_logger(__name__)

OWN_PACKAGES = ("gluepot", "awsglue", "awsglueml")
_FROM_ENVIRONMENT = frozenset(
    {
        "metrics_port",
        "metrics_host",
        "metrics_by_partition",
        "cloudwatch_names",
        "push_gateway",
        "transforms",
        "jars_dir",
        "aws",
    }
)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a script is run.

    Args:
        script: the job script.
        arguments: what the script finds in `sys.argv`, after its own name.
        master: Spark master.
        glue_version: whose behaviour a script sees.
        connections: connections file; None to look in the usual places.
        transforms: folder of custom visual transforms, local or `s3://`; None for none but those of --extra-py-files.
        jars_dir: folder of the archives of --datalake-formats; None for our cache.
        aws: Iceberg catalogs of AWS are meant as they are named.
        metrics_port: port of the ops server; None for none, 0 for a free one.
        metrics_host: address it listens on.
        metrics_token: what its readers must bring, or a reference to it; None for nothing, on loopback only.
        metrics_by_partition: show lag by partition, too.
        cloudwatch_names: show AWS Glue's own metrics, too.
        push_gateway: URL of the Prometheus push gateway that gets the metrics when the run ends; None for none.
        drain: when streams end by themselves.
        lease_secs: after how long without a sign of life another driver may take a stream over.
        on_batch_failure: what follows when the retries of a batch are used up, unless the script says it.
        after: jobs whose progress is waited for.
        after_secs: how long.
        advice_log: file that observations and advice are appended to after each batch; None for none.
        advisor: fields of `AdvisorSettings`, for the advice and for the workers with --enable-auto-scaling.
        stream_options: of streams, by name; win over the script's. An empty text takes an option of the script away.
        batch_options: of `forEachBatch`, by name; win over the script's.
        compact_every: batches that wrote to a table, from one compaction of it to the next; None for no compaction.
        live: show one live line per query.
    """

    script: Path
    arguments: Sequence[str] = ()
    master: str = "local[*]"
    glue_version: str | None = None
    connections: Path | None = None
    transforms: str | None = None
    jars_dir: Path | None = None
    aws: bool = False
    metrics_port: int | None = None
    metrics_host: str = "127.0.0.1"
    metrics_token: str | None = field(default=None, repr=False)
    metrics_by_partition: bool = False
    cloudwatch_names: bool = False
    push_gateway: str | None = None
    drain: Drain = ENDLESS
    lease_secs: float = TTL_SECS
    on_batch_failure: OnBatchFailure = "fail"
    after: tuple[str, ...] = ()
    after_secs: float = 0.0
    advice_log: Path | None = None
    advisor: Mapping[str, str] = field(default_factory=dict)
    stream_options: Mapping[str, str] = field(default_factory=dict)
    batch_options: Mapping[str, str] = field(default_factory=dict)
    compact_every: int | None = None
    live: bool = False


def run(settings: RunSettings, streams: StreamSession | None = None) -> None:
    """Run a script to its end, in this process.

    Args:
        settings: how.
        streams: a session prepared by the caller, who may watch it or end it; None makes one.

    Raises:
        ConfigError: the script is not there, or a parameter is wrong.
        TransientError: a job that is waited for made no progress in time.
        Exception: whatever the script raised.
    """
    if not settings.script.is_file():
        raise ConfigError(f"There is no script {settings.script}; give the path of a Python file.")
    argv = [str(settings.script), *settings.arguments]
    parameters = JobParameters.parse(argv, settings.glue_version or DEFAULT_GLUE_VERSION)
    bind_process(job=parameters.job_name, run_id=parameters.run_id[:12])
    for ignored in parameters.ignored:
        log.info("parameter_ignored", parameter=ignored.name, reason=ignored.reason)
    streams = streams or StreamSession()
    streams.job, streams.drain, streams.lease_secs = parameters.job_name, settings.drain, settings.lease_secs
    streams.on_batch_failure = settings.on_batch_failure
    streams.stream_options, streams.batch_options = settings.stream_options, settings.batch_options
    if settings.after:
        _wait_for_jobs(parameters.job_name, settings, streams.clock)
    with ExitStack() as stack:
        files = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gluepot-files-")))
        parameters, transforms = _with_transforms(parameters, settings.transforms, files)
        stack.enter_context(_environment(parameters, settings, streams.clock))
        advice = _advice_log(settings, parameters, streams)
        if advice is not None:
            streams.watchers.append(advice.update)
        registry = None
        if settings.metrics_port is not None or parameters.enable_metrics:
            opened = _open_ops(settings, parameters, streams, advice)
            stack.callback(opened.stop)
            registry = opened.registry
        push = None if settings.push_gateway is None else _push(settings, parameters, streams, registry)
        if advice is not None and streams.metrics is not None:
            advice.followers.append(streams.metrics.advise)
        if settings.live:
            from rich.console import Console  # noqa: PLC0415  nothing else needs it, and it takes its time to load

            from gluepot.job.live import LiveView  # noqa: PLC0415

            streams.watchers.append(stack.enter_context(LiveView(Console(stderr=True))).update)
        if settings.compact_every is not None:
            from gluepot.job.compacting import compacting  # noqa: PLC0415  most jobs do not

            watch = compacting(settings.compact_every, streams.clock, streams.side_task_failed)
            streams.watchers.append(stack.enter_context(watch))
        session.install(streams)
        stack.callback(_stop_spark)
        if push is not None:
            stack.push(push)
        if parameters.enable_data_lineage and (told := lineage_until_end(parameters, streams)):
            stack.push(told)
        with (
            stop_on_signals(streams),
            _arguments(parameters.argv),
            _import_path(settings.script, parameters.extra_py_files),
            _attached(transforms),
        ):
            runpy.run_path(str(settings.script), run_name="__main__")


def _advice_log(settings: RunSettings, parameters: JobParameters, streams: StreamSession) -> AdviceLog | None:
    if settings.advice_log is None and not parameters.enable_auto_scaling:
        return None
    from gluepot.job.scaling import advisor  # noqa: PLC0415  numpy takes its time to load

    chosen, ended = settings.advisor, streams.status.ended
    failed = streams.side_task_failed
    return advisor(settings.master, parameters, settings.advice_log, chosen, streams.clock, ended, failed)


def _open_ops(
    settings: RunSettings, parameters: JobParameters, streams: StreamSession, advice: AdviceLog | None
) -> Opened:
    """Serve metrics, health and the page."""
    from gluepot.ops.page.origins import RunOption  # noqa: PLC0415  as below
    from gluepot.ops.start import start  # noqa: PLC0415  HTTP and metrics libraries take their time to load

    own = [
        RunOption(
            one.name,
            _plain(getattr(settings, one.name)),
            _plain(one.default if one.default_factory is MISSING else one.default_factory()),
            f"GLUEPOT_{one.name.upper()}" if one.name in _FROM_ENVIRONMENT else "",
        )
        for one in fields(RunSettings)
        if one.name not in {"arguments", "metrics_token", "stream_options", "batch_options"}
    ]
    opened = start(_ops(settings), parameters, own, streams, advice.newest if advice else None)
    log.info("metrics", url=opened.server.url, page=opened.server.page_url)
    return opened


def _ops(settings: RunSettings) -> OpsSettings:
    from gluepot.ops.start import OpsSettings  # noqa: PLC0415  as above

    return OpsSettings(
        port=settings.metrics_port or 0,
        host=settings.metrics_host,
        token=settings.metrics_token,
        by_partition=settings.metrics_by_partition,
        cloudwatch_names=settings.cloudwatch_names,
    )


def _push(
    settings: RunSettings, parameters: JobParameters, streams: StreamSession, registry: CollectorRegistry | None
) -> AtEnd:
    """Return what pushes the metrics when the run ends."""
    from gluepot.ops.start import registered  # noqa: PLC0415  as above

    metrics = registered(_ops(settings), parameters, streams) if registry is None else registry
    return push_at_end(settings.push_gateway or "", parameters.job_name, metrics, streams.clock)


def _plain(value: object) -> bool | float | str | None:
    return value if isinstance(value, bool | int | float | None) else str(value)


def _wait_for_jobs(job: str, settings: RunSettings, clock: Clock) -> None:
    from gluepot.bookmarks.ledger import ledger_url, open_ledger  # noqa: PLC0415
    from gluepot.bookmarks.upstream_jobs import wait_for  # noqa: PLC0415  most jobs wait for none

    with closing(open_ledger(ledger_url(os.environ), clock)) as ledger:
        wait_for(ledger, job, settings.after, clock, settings.after_secs)


def _with_transforms(
    parameters: JobParameters, url: str | None, folder: Path
) -> tuple[JobParameters, list[CustomTransform]]:
    """Return the parameters with files of this machine for the Python path, and the custom transforms among them."""
    if not url and not parameters.extra_py_files:
        return parameters, []
    from gluepot.job.custom_transforms import fetched, in_folder  # noqa: PLC0415  few jobs have any

    found = in_folder(url, folder) if url else []
    given = [fetched(one, folder) for one in parameters.extra_py_files]
    paths = dict.fromkeys([*(str(path) for path, _ in given), *(str(one.module) for one in found)])
    transforms = {one.module: one for one in [*found, *(one for _, one in given if one is not None)]}
    return replace(parameters, extra_py_files=tuple(paths)), list(transforms.values())


def _attached(transforms: Sequence[CustomTransform]) -> AbstractContextManager[None]:
    if not transforms:
        return nullcontext()
    from gluepot.job.custom_transforms import attached  # noqa: PLC0415  as above

    return attached(transforms)


@contextmanager
def _environment(parameters: JobParameters, settings: RunSettings, clock: Clock) -> Iterator[None]:
    """Set what the driver's process hands to Spark, and take it back; start Spark's JVM."""
    conf = job_conf(parameters, settings.master)
    formats = parameters.datalake_formats
    conf = with_formats(conf, formats, archives_of(formats, parameters.extra_jars, settings.jars_dir))
    own = {AWS: "true"} if settings.aws else {}
    conf |= localized(conf, {**os.environ, **own})
    before = dict(os.environ)
    os.environ.update(own)
    folder = Path(tempfile.mkdtemp(prefix="gluepot-conf-"))
    properties = folder / "spark.properties"
    properties.write_text(properties_text(conf))
    os.environ.pop("SPARK_REMOTE", None)  # a classic session, as Glue's
    os.environ["GLUEPOT_GLUE_VERSION"] = parameters.glue_version
    os.environ["GLUEPOT_SCRIPT_FOLDER"] = str(settings.script.resolve().parent)  # for workers on this machine
    # For the lines of Spark's log, as bind_process does for ours.
    os.environ["GLUEPOT_JOB"], os.environ["GLUEPOT_RUN_ID"] = parameters.job_name, parameters.run_id[:12]
    if settings.connections:
        os.environ["GLUEPOT_CONNECTIONS"] = str(settings.connections)
    os.environ.update(parameters.driver_env_vars)
    try:
        prepare(os.environ, properties)
        with early_jvm.handed_over(conf["spark.master"], clock):
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
def _import_path(script: Path, extra_py_files: Sequence[str]) -> Iterator[None]:
    """Let the script import its neighbours, as `python SCRIPT` does, and then what --extra-py-files names.

    Only Glue's own packages and ours stay what they are: a module of one of these names is hidden, with a warning.
    """
    for name in OWN_PACKAGES:
        import_module(name)  # what is loaded is not searched for again
    folder = script.resolve().parent
    for name in OWN_PACKAGES:
        if (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists():
            log.warning(
                "module_shadowed", module=name, folder=str(folder), hint="rename it; Gluepot has one of that name"
            )
    added = [str(folder), *extra_py_files]
    sys.path[:0] = added
    try:
        yield
    finally:
        for path in added:
            sys.path.remove(path)


def _stop_spark() -> None:
    from pyspark import SparkContext  # noqa: PLC0415  not before the environment is ready

    context: Any = SparkContext._active_spark_context  # noqa: SLF001
    if context is None:
        return
    # Its server of accumulators looks twice a second whether it is to end; nothing has to wait for that.
    server, context._accumulatorServer = getattr(context, "_accumulatorServer", None), None  # noqa: SLF001
    context.stop()
    if server is not None:
        threading.Thread(target=server.shutdown, name="gluepot-end-accumulators", daemon=True).start()
