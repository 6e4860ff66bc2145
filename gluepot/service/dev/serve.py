"""Services for development and for the demo, with what they have beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from gluepot.core.clock import Clock
from gluepot.core.statedir import VARIABLE
from gluepot.service.dev import demo
from gluepot.service.dev.stage import BUCKET, Stage, development_stage
from gluepot.service.server import ServeOptions, Serving, service


@contextmanager
def development(options: ServeOptions, environ: Mapping[str, str], clock: Clock) -> Iterator[Serving]:
    """Run a service with an S3 of its own until the context ends; print what to paste into a shell.

    Args:
        options: how.
        environ: says where the state folder is.
        clock: tells the time.

    Raises:
        ConfigError: as `service`, or the emulator is not installed.
    """
    with development_stage(environ) as stage, _serving(options, stage, clock) as serving:
        print(
            f"""AWS Glue's API is at {serving.url}, and S3 with the bucket {BUCKET} is at {stage.s3.url}.
Ctrl-C ends both, and the runs.

In another shell:

  eval "$(gluepot serve env)"
  aws s3 cp job.py s3://{BUCKET}/scripts/job.py
  aws glue create-job --name first --role any \\
      --command Name=glueetl,ScriptLocation=s3://{BUCKET}/scripts/job.py
  aws glue start-job-run --job-name first
  aws glue get-job-runs --job-name first"""
        )
        yield serving


@contextmanager
def demonstration(options: ServeOptions, environ: Mapping[str, str], clock: Clock) -> Iterator[Serving]:
    """Run a service in a new folder, in which a schedule starts a workflow and a stream runs, until the context ends.

    Args:
        options: how.
        environ: of which all but the state folder is kept.
        clock: tells the time.

    Raises:
        ConfigError: as `service`, or a server that the demo needs is not installed.
    """
    now = datetime.fromtimestamp(clock.epoch(), UTC)
    folder = Path(".gluepot/demo-service", f"{now:%Y%m%d-%H%M%S}").absolute()
    folder.mkdir(parents=True)
    own = {**environ, VARIABLE: str(folder / "state")}
    for variable in ("GLUEPOT_SERVICE", "GLUEPOT_LEDGER", "GLUEPOT_CATALOG"):
        own.pop(variable, None)
    with (
        development_stage(own) as stage,
        demo.clicks(folder, clock) as bootstrap,
        _serving(options, stage, clock) as serving,
    ):
        demo.define(serving.call, bootstrap, folder, datetime.fromtimestamp(clock.epoch(), UTC))
        print(
            f"""AWS Glue's API is at {serving.url}, and S3 with the bucket {BUCKET} is at {stage.s3.url}.

Within a minute, and then every five minutes, a schedule starts the workflow `{demo.WORKFLOW}`: a Python shell job makes
new orders, a batch job with a bookmark loads them, and another one reports. The stream `clicks` runs beside it.

In another shell:

  export {VARIABLE}={folder / "state"}
  eval "$(gluepot serve env)"
  aws glue get-workflow-runs --name {demo.WORKFLOW}
  aws glue get-job-runs --job-name load-orders
  aws glue get-job-bookmark --job-name load-orders

Ctrl-C stops all runs and ends it."""
        )
        yield serving


@contextmanager
def _serving(options: ServeOptions, stage: Stage, clock: Clock) -> Iterator[Serving]:
    with service(replace(options, ends_runs=True, shell=stage.shell), stage.environ, clock) as serving:
        yield serving
