"""The options of `gluepot run`. A field declares one option for all: command line, environment, ops page, programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, get_type_hints

from cyclopts import Parameter
from cyclopts.validators import Number

from gluepot.connectors.lake import AWS
from gluepot.core.errors import ConfigError
from gluepot.core.glue_workers import WORKER_TYPES
from gluepot.core.leases import TTL_SECS

PORTS = Number(gte=0, lte=65_535)
"""What an option for a port accepts; 0 takes a free one."""
PROJECT_FILE = "gluepot.toml"
"""The project file of a folder; `gluepot.job.project` reads it."""
PROJECT_VARIABLE = "GLUEPOT_PROJECT"
"""The environment variable that names another project file, or its folder; if it is empty, there is none."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a script is run.

    Args:
        master: Spark master: local[*], spark://host:port, k8s://...
        worker_type: on a cluster, executors get the cores and the memory of this worker type of AWS Glue, such as G.1X.
        number_of_workers: how many of them; one is the driver's, as on AWS Glue, and the others are executors.
        until_caught_up: end when all records that the source had at the start are committed.
        max_batches: end after this many batches.
        metrics_port: serve the job's page, Prometheus metrics and health on this port; 0 selects a free one.
        metrics_host: address of these pages; any address other than loopback needs a token.
        metrics_token: the token that readers must send: file:/path or env:NAME. Probes without details need none.
        metrics_by_partition: show lag by partition, too.
        cloudwatch_names: also expose AWS Glue's metrics, with the names of Prometheus' exporter for CloudWatch.
        push_gateway: URL of a Prometheus push gateway that gets the metrics when the run ends, for short jobs.
        lease_secs: a driver without a heartbeat for this time may be replaced by another one on the same checkpoint.
        connections: the connections file, if it is not in one of the usual places.
        transforms: a folder of custom visual transforms, local or s3://; each is a JSON and a Python file.
        jars_dir: a folder with the archives of --datalake-formats, as `gluepot jars fetch --jars-dir` fills it.
        aws: use the Glue catalogs that the script names for Iceberg; without it, a local catalog replaces them.
        glue_version: the Glue version whose behaviour the script gets: 3.0, 4.0, 5.0, 5.1 or 6.0.
        on_batch_failure: what happens when all retries of a batch have failed: fail ends the job, quarantine makes
            the failing records dead letters and continues the stream.
        on_malformed: how to handle records that cannot be parsed into rows: keep (store and count them), fail (fail
            the job), drop (only count them).
        strict: fail if the data suggests a mistake in the script, such as a mapped field without values, most records
            rejected, or all rows in the default partition. A failing write to files publishes nothing.
        after: start when this other job has committed data that the last run has not seen; both jobs need bookmarks in
            one ledger. May be repeated.
        after_secs: how long to wait for the jobs of --after.
        advice_log: append the advisor's input and advice after each batch to this file, for `gluepot advise`.
        stream_option: NAME=VALUE; overrides an option of the script's streams, such as maxOffsetsPerTrigger=50000.
            Without a value it removes the option. May be repeated.
        batch_option: NAME=VALUE; overrides an option of forEachBatch, such as windowSize="10 seconds". May be
            repeated.
        max_workers: maximum number of workers for the advice, and for the job with --enable-auto-scaling true after
            `--`. Each worker is a Spark executor.
        advisor: NAME=VALUE of the advice: sla_secs, min_workers, hold_secs, catch_up_secs, worker_start_secs,
            cool_down_secs, ... May be repeated.
        compact_every: compact a table after this many batches that wrote to it, as `gluepot table compact` does.

    Raises:
        ConfigError: a number is too small, a pair is not NAME=VALUE, or there is no such worker type.
    """

    master: str = "local[*]"
    worker_type: str | None = None
    number_of_workers: int | None = None
    until_caught_up: bool = False
    max_batches: int | None = None
    metrics_port: Annotated[int | None, Parameter(env_var="GLUEPOT_METRICS_PORT", validator=PORTS)] = None
    metrics_host: Annotated[str, Parameter(env_var="GLUEPOT_METRICS_HOST")] = "127.0.0.1"
    metrics_token: Annotated[str | None, Parameter(env_var="GLUEPOT_METRICS_TOKEN")] = field(default=None, repr=False)
    metrics_by_partition: Annotated[bool, Parameter(env_var="GLUEPOT_METRICS_BY_PARTITION")] = False
    cloudwatch_names: Annotated[bool, Parameter(env_var="GLUEPOT_CLOUDWATCH_NAMES")] = False
    push_gateway: Annotated[str | None, Parameter(env_var="GLUEPOT_PUSH_GATEWAY")] = None
    lease_secs: float = TTL_SECS
    connections: Path | None = None
    transforms: Annotated[str | None, Parameter(env_var="GLUEPOT_TRANSFORMS")] = None
    jars_dir: Annotated[Path | None, Parameter(env_var="GLUEPOT_JARS_DIR")] = None
    aws: Annotated[bool, Parameter(env_var=AWS)] = False
    glue_version: str | None = None
    on_batch_failure: Literal["fail", "quarantine"] = "fail"
    on_malformed: Annotated[Literal["keep", "fail", "drop"], Parameter(env_var="GLUEPOT_ON_MALFORMED")] = "keep"
    strict: Annotated[bool, Parameter(env_var="GLUEPOT_STRICT")] = False
    after: Sequence[str] = ()
    after_secs: float = 3600.0
    advice_log: Path | None = None
    stream_option: Sequence[str] = ()
    batch_option: Sequence[str] = ()
    max_workers: int | None = None
    advisor: Sequence[str] = ()
    compact_every: int | None = None

    def __post_init__(self) -> None:
        for name, value, least in (
            ("max-batches", self.max_batches, 1),
            ("number-of-workers", self.number_of_workers, 1),
            ("lease-secs", self.lease_secs, 1),
            ("after-secs", self.after_secs, 0),
            ("compact-every", self.compact_every, 1),
        ):
            if value is not None and not value >= least:  # nothing is at least as large as a NaN
                raise ConfigError(f"--{name} is {value}; use {least} or more.")
        if (self.worker_type is None) != (self.number_of_workers is None):
            raise ConfigError("--worker-type and --number-of-workers belong together; give both or neither.")
        if self.worker_type is not None and self.worker_type not in WORKER_TYPES:
            raise ConfigError(f"--worker-type is {self.worker_type!r}; use one of {', '.join(WORKER_TYPES)}.")
        for name, texts, example in (
            ("stream-option", self.stream_option, "maxOffsetsPerTrigger=50000"),
            ("batch-option", self.batch_option, 'windowSize="10 seconds"'),
            ("advisor", self.advisor, "sla_secs=60"),
        ):
            wrong = next((text for text in texts if "=" not in text.lstrip("=")), None)
            if wrong is not None:
                raise ConfigError(f"--{name} is {wrong!r}; write NAME=VALUE, for example {example}.")

    @property
    def stream_options(self) -> Mapping[str, str]:
        """Options of streams by name, which win over the script's. An empty text takes an option away."""
        return _by_name(self.stream_option)

    @property
    def batch_options(self) -> Mapping[str, str]:
        """Options of `forEachBatch` by name, which win over the script's."""
        return _by_name(self.batch_option)

    @property
    def advisor_fields(self) -> Mapping[str, str]:
        """Fields of `AdvisorSettings`, for the advice and for the workers with --enable-auto-scaling."""
        return _by_name(self.advisor) | ({} if self.max_workers is None else {"max_workers": str(self.max_workers)})


DEFAULT_OPTIONS = RunOptions()


def variables() -> dict[str, str]:
    """Return, by the name of an option, the environment variable whose value it takes by default, if it has one."""
    hints = get_type_hints(RunOptions, include_extras=True)
    return {
        name: one.env_var if isinstance(one.env_var, str) else next(iter(one.env_var))
        for name, hint in hints.items()
        for one in getattr(hint, "__metadata__", ())
        if isinstance(one, Parameter) and one.env_var
    }


def _by_name(texts: Sequence[str]) -> dict[str, str]:
    return {name: value for name, _, value in (text.partition("=") for text in texts)}
