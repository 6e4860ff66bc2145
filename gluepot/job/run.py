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
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gluepot.connectors.lake import AWS, localized, warehouse
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError
from gluepot.core.glue_version import DEFAULT as DEFAULT_GLUE_VERSION
from gluepot.core.glue_workers import WORKER_TYPES
from gluepot.core.job_parameters import LACKING, JobParameters
from gluepot.core.logging import bind_process, get_logger
from gluepot.core.on_malformed import OnMalformed
from gluepot.core.statedir import event_logs_folder
from gluepot.datalake import archives_of, with_formats
from gluepot.job.endings import AtEnd, bookmarks_at_end, lineage_until_end, push_at_end, summary_at_end
from gluepot.job.executors import executors_of, with_executors
from gluepot.job.glue_metrics.starting import reporting
from gluepot.job.options import DEFAULT_OPTIONS, RunOptions, variables
from gluepot.job.spark_conf import job_conf, properties_text
from gluepot.spark import early_jvm, fork_server
from gluepot.spark.java_folder import may_execute
from gluepot.spark.master import require_master
from gluepot.spark.spark_env import prepare
from gluepot.streaming.query import session
from gluepot.streaming.query.session import Drain, StreamSession
from gluepot.streaming.query.stopping import stop_on_signals

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from gluepot.job.custom_transforms import CustomTransform
    from gluepot.ops.start import Opened, OpsSettings
    from gluepot.streaming.advisor import AdviceLog

log = get_logger(__name__)

OWN_PACKAGES = ("gluepot", "awsglue", "awsgluedq", "awsglueml")


def run(
    script: Path,
    arguments: Sequence[str] = (),
    options: RunOptions = DEFAULT_OPTIONS,
    streams: StreamSession | None = None,
    *,
    live: bool = False,
    set_by_file: Mapping[str, str] | None = None,
) -> None:
    """Run a script to its end, in this process.

    Args:
        script: the job script.
        arguments: what the script finds in `sys.argv`, after its own name.
        options: how it is run.
        streams: a session prepared by the caller, who may watch it or end it; None makes one.
        live: show one live line per query.
        set_by_file: the names of those options that a project file set, and the file.

    Raises:
        ConfigError: the script is not there, or a parameter is wrong.
        TransientError: a job that is waited for made no progress in time.
        Exception: whatever the script raised.
    """
    _check_files(script, options)
    argv = [str(script), *arguments]
    parameters = _sized(JobParameters.parse(argv, options.glue_version or DEFAULT_GLUE_VERSION), options)
    _check_pages(options, parameters)
    bind_process(job=parameters.job_name, run_id=parameters.run_id[:12])
    _warn_of_parameters(parameters, script)
    streams = streams or StreamSession()
    streams.job, streams.drain, streams.lease_secs = (
        parameters.job_name,
        Drain(options.until_caught_up, options.max_batches),
        options.lease_secs,
    )
    streams.on_batch_failure = options.on_batch_failure
    streams.on_malformed, streams.is_strict = OnMalformed(options.on_malformed), options.strict
    streams.stream_options, streams.batch_options = options.stream_options, options.batch_options
    if options.after:
        streams.upstream_ages_secs = _wait_for_jobs(parameters.job_name, options, streams.clock)
    with ExitStack() as stack:
        files = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gluepot-files-")))
        parameters, transforms = _with_transforms(parameters, options.transforms, files)
        parameters = stack.enter_context(_on_this_machine(parameters))
        parameters, site = _with_modules(parameters, options.master, files, streams.clock, stack)
        stack.enter_context(_environment(parameters, script, options, streams.clock, site))
        advice = _advice_log(options, parameters, streams)
        require_master(options.master, streams.clock)
        if advice is not None:
            streams.watchers.append(advice.update)
        registry = None
        if options.metrics_port is not None or parameters.enable_metrics:
            opened = _open_ops(options, parameters, streams, advice, set_by_file or {})
            stack.callback(opened.stop)
            registry = opened.registry
        push = None if options.push_gateway is None else _push(options, parameters, streams, registry)
        if advice is not None and streams.metrics is not None:
            advice.followers.append(streams.metrics.advise)
        stack.push(summary_at_end(streams, live=live))
        if live:
            stack.enter_context(_live_view(streams))
        if options.compact_every is not None:
            from gluepot.job.compacting import compacting  # noqa: PLC0415  most jobs do not

            watch = compacting(options.compact_every, streams.clock, streams.side_task_failed)
            streams.watchers.append(stack.enter_context(watch))
        session.install(streams)
        stack.push(bookmarks_at_end)
        stack.callback(_stop_spark)
        stack.callback(reporting(parameters, streams, os.environ))
        if push is not None:
            stack.push(push)
        if parameters.enable_data_lineage and (lineage := lineage_until_end(parameters, streams)):
            stack.push(lineage)
        with (
            stop_on_signals(streams),
            _arguments(parameters.argv),
            _import_path(script, parameters.extra_py_files, files / "modules"),
            _attached(transforms),
            streams.thread_failures.uncaught(streams.stop.set),
        ):
            run_to_end(script, streams)


@contextmanager
def _live_view(streams: StreamSession) -> Iterator[None]:
    from rich.console import Console  # noqa: PLC0415  nothing else needs it, and it takes its time to load

    from gluepot.job.live import LiveView  # noqa: PLC0415

    with LiveView(Console(stderr=True), streams.clock) as view:
        streams.watchers.append(view.update)
        yield


def _check_files(script: Path, options: RunOptions) -> None:
    if not script.is_file():
        raise ConfigError(f"There is no script {script}; give the path of a Python file.")
    if options.connections is None:
        return
    if not options.connections.is_file():
        raise ConfigError(f"There is no connections file {options.connections}; correct --connections.")
    from gluepot.catalog.connections.file import load  # noqa: PLC0415  most jobs name none

    load(options.connections)


def _warn_of_parameters(parameters: JobParameters, script: Path) -> None:
    """Log parameters without effect, and those that are nearly one of Glue's, unless the script asks for them."""
    for ignored in parameters.ignored:
        tell = log.warning if ignored.name in LACKING else log.info
        tell("parameter_ignored", parameter=ignored.name, reason=ignored.reason)
    text = script.read_text("utf-8", "replace") if parameters.misspelled else ""
    for name, meant in parameters.misspelled:
        if name not in text and name.replace("-", "_") not in text:
            log.warning("parameter_unknown", parameter=f"--{name}", hint=f"Did you mean --{meant}?")


def _check_pages(options: RunOptions, parameters: JobParameters) -> None:
    """Refuse settings of pages and push gateway that cannot work, before Java starts."""
    if options.metrics_port is not None or parameters.enable_metrics:
        from gluepot.ops.access import checked_token  # noqa: PLC0415  most jobs have no pages

        checked_token(options.metrics_host, options.metrics_token, os.environ)
    if options.push_gateway is not None:
        from gluepot.ops.push import checked_gateway  # noqa: PLC0415  few runs push

        checked_gateway(options.push_gateway)


def _sized(parameters: JobParameters, options: RunOptions) -> JobParameters:
    if options.worker_type is None or options.number_of_workers is None or options.master.startswith("local"):
        return parameters
    return with_executors(parameters, WORKER_TYPES[options.worker_type], options.number_of_workers)


def run_to_end(script: Path, streams: StreamSession) -> None:
    """Run a script and what it has left for the end, also where it ends with `sys.exit(0)`.

    Raises:
        PermanentError: a thread asked for a stream that did not run.
        Exception: whatever the script raised.
    """
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        if not ended.code:
            _finish(streams)
        raise
    _finish(streams)


def _finish(streams: StreamSession) -> None:
    """Wait for threads, and do what a script without `job.commit()` has left, such as checks of data quality.

    Raises:
        PermanentError: a thread asked for a stream that did not run.
        SuspiciousData: something looks like a mistake, and the job is strict.
    """
    streams.thread_failures.wait()
    streams.thread_failures.raise_first()
    if "gluepot.bookmarks.run_writer" not in sys.modules:  # nothing was written or checked
        return
    from gluepot.bookmarks.run_writer import WRITERS  # noqa: PLC0415  not before the environment is ready
    from gluepot.engine.suspicion import SuspiciousData  # noqa: PLC0415  as above

    try:
        WRITERS.finish(is_strict=streams.is_strict)
    except SuspiciousData:
        raise
    except Exception as failed:  # noqa: BLE001  the script is done, and may have stopped Spark
        get_logger(__name__).warning("checks_not_made", reason=str(failed), hint="call job.commit() in the script")


def _advice_log(options: RunOptions, parameters: JobParameters, streams: StreamSession) -> AdviceLog | None:
    if options.advice_log is None and not parameters.enable_auto_scaling:
        return None
    from gluepot.job.scaling import advisor  # noqa: PLC0415  numpy takes its time to load

    chosen, ended = options.advisor_fields, streams.status.ended
    if options.number_of_workers is not None:
        chosen = {"max_workers": str(executors_of(options.number_of_workers)), **chosen}
    failed = streams.side_task_failed
    return advisor(options.master, parameters, options.advice_log, chosen, streams.clock, ended, failed)


def _open_ops(
    options: RunOptions,
    parameters: JobParameters,
    streams: StreamSession,
    advice: AdviceLog | None,
    set_by_file: Mapping[str, str],
) -> Opened:
    """Serve metrics, health and the page."""
    from gluepot.ops.page.origins import RunOption  # noqa: PLC0415  as below
    from gluepot.ops.start import start  # noqa: PLC0415  HTTP and metrics libraries take their time to load

    by_environment = variables()
    own = [
        RunOption(
            one.name,
            _plain(getattr(options, one.name)),
            _plain(getattr(DEFAULT_OPTIONS, one.name)),
            by_environment.get(one.name, ""),
            set_by_file.get(one.name, ""),
        )
        for one in fields(RunOptions)
        if one.name not in {"metrics_token", "stream_option", "batch_option"}
    ]
    opened = start(_ops(options), parameters, own, streams, advice.newest if advice else None)
    log.info("metrics", url=opened.server.url, page=opened.server.page_url)
    return opened


def _ops(options: RunOptions) -> OpsSettings:
    from gluepot.ops.start import OpsSettings  # noqa: PLC0415  as above

    return OpsSettings(
        port=options.metrics_port or 0,
        host=options.metrics_host,
        token=options.metrics_token,
        by_partition=options.metrics_by_partition,
        cloudwatch_names=options.cloudwatch_names,
    )


def _push(
    options: RunOptions, parameters: JobParameters, streams: StreamSession, registry: CollectorRegistry | None
) -> AtEnd:
    """Return what pushes the metrics when the run ends."""
    from gluepot.ops.start import registered  # noqa: PLC0415  as above

    metrics = registered(_ops(options), parameters, streams) if registry is None else registry
    return push_at_end(options.push_gateway or "", parameters.job_name, metrics, streams.clock)


def _plain(value: object) -> bool | float | str | None:
    return value if isinstance(value, bool | int | float | None) else str(value)


def _wait_for_jobs(job: str, options: RunOptions, clock: Clock) -> dict[str, float]:
    from gluepot.bookmarks.ledger import ledger_url, open_ledger  # noqa: PLC0415
    from gluepot.bookmarks.upstream_jobs import wait_for  # noqa: PLC0415  most jobs wait for none

    with closing(open_ledger(ledger_url(os.environ), clock)) as ledger:
        return wait_for(ledger, job, options.after, clock, options.after_secs)


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


@contextmanager
def _on_this_machine(parameters: JobParameters) -> Iterator[JobParameters]:
    """Yield the parameters with extra files and the event log where Spark reads and writes them."""
    logs = parameters.spark_event_logs_path
    if not parameters.extra_files and logs is None:
        yield parameters
        return
    from gluepot.job.event_logs import event_log  # noqa: PLC0415  most jobs have neither
    from gluepot.job.extra_files import extra_files  # noqa: PLC0415  as above

    with ExitStack() as stack:
        copies = stack.enter_context(extra_files(parameters.extra_files))
        if logs is not None:
            logs = stack.enter_context(event_log(logs or str(event_logs_folder(os.environ))))
        yield replace(parameters, extra_files=tuple(map(str, copies)), spark_event_logs_path=logs)


def _attached(transforms: Sequence[CustomTransform]) -> AbstractContextManager[None]:
    if not transforms:
        return nullcontext()
    from gluepot.job.custom_transforms import attached  # noqa: PLC0415  as above

    return attached(transforms)


def _with_modules(
    parameters: JobParameters, master: str, folder: Path, clock: Clock, stack: ExitStack
) -> tuple[JobParameters, Path | None]:
    """Install the modules of the job; return the parameters that bring them to executors, and their folder."""
    if not parameters.python_modules.modules:
        return parameters, None
    from gluepot.job.python_modules import for_job  # noqa: PLC0415  most jobs have none

    return for_job(parameters, master, folder, clock, stack)


@contextmanager
def _environment(
    parameters: JobParameters, script: Path, options: RunOptions, clock: Clock, modules: Path | None = None
) -> Iterator[None]:
    """Set what the driver's process hands to Spark, and take it back; start Spark's JVM."""
    conf = job_conf(parameters, options.master)
    formats = parameters.datalake_formats
    conf = with_formats(conf, formats, archives_of(formats, parameters.extra_jars, options.jars_dir))
    conf.setdefault("spark.sql.warehouse.dir", str(warehouse(os.environ)))
    own = {AWS: "true"} if options.aws else {}
    conf |= localized(conf, {**os.environ, **own})
    before = dict(os.environ)
    os.environ.update(own)
    folder = Path(tempfile.mkdtemp(prefix="gluepot-conf-"))
    properties = folder / "spark.properties"
    properties.write_text(properties_text(conf))
    os.environ.pop("SPARK_REMOTE", None)  # a classic session, as Glue's
    os.environ["GLUEPOT_GLUE_VERSION"] = parameters.glue_version
    os.environ["GLUEPOT_SCRIPT_FOLDER"] = str(script.resolve().parent)  # for workers on this machine
    if modules is not None:
        os.environ["GLUEPOT_PYTHON_MODULES"] = str(modules)  # likewise
    # For the lines of Spark's log, as bind_process does for ours.
    os.environ["GLUEPOT_JOB"], os.environ["GLUEPOT_RUN_ID"] = parameters.job_name, parameters.run_id[:12]
    if options.connections:
        os.environ["GLUEPOT_CONNECTIONS"] = str(options.connections)
    os.environ.update(parameters.driver_env_vars)
    # A program of ours stands for Python then.
    forks = fork_server.is_possible(conf["spark.master"], os.environ) and may_execute(folder)
    if forks:
        os.environ["PYSPARK_PYTHON"] = str(fork_server.program(folder))
    try:
        prepare(os.environ, properties)
        with early_jvm.handed_over(conf["spark.master"], clock):
            from gluepot.job import hive_support, spark_kafka, spark_kinesis, spark_redshift  # noqa: PLC0415  while these load PySpark, the JVM starts
            from gluepot.spark import lazy_pandas  # noqa: PLC0415  as above

            lazy_pandas.for_pyarrow()
            lazy_pandas.for_pyspark()
            forked = fork_server.serving(folder) if forks else nullcontext()
            hive = hive_support.of_data_catalog() if parameters.data_catalog else nullcontext()
            spark_formats = (spark_kafka.on_demand(options.jars_dir), spark_kinesis.served(), spark_redshift.served())
            with forked, spark_formats[0], spark_formats[1], spark_formats[2], hive:
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
def _import_path(script: Path, extra_py_files: Sequence[str], modules: Path) -> Iterator[None]:
    """Let the script import its neighbours, as `python SCRIPT` does, and then what --extra-py-files names.

    Only Glue's own packages and ours stay what they are: a module of one of these names is hidden, with a warning.

    Args:
        script: the script.
        extra_py_files: archives and modules on this machine.
        modules: a new folder that links to the modules. Their own folders may hold others, which are not meant.
    """
    for name in OWN_PACKAGES:
        import_module(name)  # what is loaded is not searched for again
    folder = script.resolve().parent
    for name in OWN_PACKAGES:
        if (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists():
            log.warning(
                "module_shadowed", module=name, folder=str(folder), hint="rename it; Gluepot has one of that name"
            )
    modules.mkdir()
    for module in (Path(one) for one in reversed(extra_py_files) if one.endswith(".py")):
        (modules / module.name).unlink(missing_ok=True)  # of two modules of one name the first counts, as on any path
        (modules / module.name).symlink_to(module.absolute())
    added = [str(folder), str(modules), *(one for one in extra_py_files if not one.endswith(".py"))]
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
