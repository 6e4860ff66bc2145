"""`gluepot serve`: AWS Glue's API on this machine, for unmodified clients."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from gluepot.core.clock import SystemClock
from gluepot.core.sockets import LOOPBACK
from gluepot.job.options import PORTS
from gluepot.service.controllers.retention import DEFAULT_KEEP_DAYS
from gluepot.service.events.topics import topics_of
from gluepot.service.launch.drivers import LauncherName, master_of
from gluepot.service.server import (
    DEFAULT_PORT,
    DEFAULT_REGION,
    ServeOptions,
    console_link,
    service,
    shell_environment,
    where_it_serves,
)

app = App(
    name="serve", help="AWS Glue's API on this machine: unmodified AWS clients define, start, watch and stop jobs."
)


@app.default
def serve(
    *,
    host: str = LOOPBACK,
    port: Annotated[int, Parameter(validator=PORTS)] = DEFAULT_PORT,
    region: str = DEFAULT_REGION,
    max_runs: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    keep_days: Annotated[int, Parameter(validator=Number(gte=1))] = DEFAULT_KEEP_DAYS,
    launcher: Annotated[LauncherName, Parameter(env_var="GLUEPOT_LAUNCHER")] = "process",
    master: Annotated[str | None, Parameter(env_var="GLUEPOT_MASTER")] = None,
    event_queue: Sequence[str] = (),
    topic: Sequence[str] = (),
    strict_account: bool = False,
    dev: bool = False,
    demo: bool = False,
) -> None:
    """Serve until Ctrl-C or a signal. Runs continue without the service; the next service finds them again.

    Args:
        host: address to listen on. Requests must be signed, but they are not encrypted.
        port: 0 selects a free one.
        region: region in the names of resources.
        max_runs: how many runs may be active at a time; others wait. Unlimited by default.
        keep_days: how many days runs and their logs are kept after their end.
        launcher: process runs jobs on this machine. spark-submit runs their drivers here, in client mode, and a cluster
            gives them executors, as many and as large as the workers of the job.
        master: of that cluster, as spark-submit takes it: spark://host:port, yarn, k8s://...
        event_queue: ARN of an SQS queue whose messages are events for rules; may be repeated. Credentials and endpoint
            come from the environment, as for AWS's tools.
        topic: ARN of an SNS topic and a URL, as ARN=URL; may be repeated. The URL gets the messages that rules and
            alarms send to the topic, in SNS's envelope. Messages to other topics are sent to SNS.
        strict_account: refuse calls that name another account, catalog or region, as AWS does. Without it,
            the service ignores these ids and logs one warning for each name.
        dev: include an S3 server with the bucket `gluepot` in memory; runs end when the service stops.
        demo: like --dev, in a new folder below .gluepot/demo-service, with a running workflow and stream.
    """
    options = ServeOptions(
        host,
        port,
        region,
        max_runs,
        keep_days,
        master_of(launcher, master),
        event_queues=tuple(event_queue),
        topics=topics_of(topic),
        strict_account=strict_account,
    )
    clock = SystemClock()
    with ExitStack() as stack:
        if dev or demo:
            # Plain services need none of what these import.
            from gluepot.service.dev.serve import demonstration, development  # noqa: PLC0415

            serving = stack.enter_context((demonstration if demo else development)(options, os.environ, clock))
        else:
            serving = stack.enter_context(service(options, os.environ, clock))
            print(f"AWS Glue's API is at {serving.url}; `gluepot serve env` prints what a shell needs. Ctrl-C ends it.")
        print(
            f"The console opens, once, with {console_link(serving.url, serving.key, clock.epoch())}\n"
            "`gluepot serve console` prints another link.",
            flush=True,
        )
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, lambda *_: serving.stop())
        serving.ended.wait()


@app.command
def env(*, read_only: bool = False) -> None:
    """Print the environment variables that let AWS clients call the running service: eval "$(gluepot serve env)".

    Args:
        read_only: print a key that can only call reading operations, for people who must not start jobs or reset
            bookmarks.
    """
    for name, value in shell_environment(os.environ, reads_only=read_only).items():
        print(f"export {name}={shlex.quote(value)}")


@app.command
def backup(folder: Path) -> None:
    """Copy the databases and keys of the service into a new folder, even while it runs; logs are not copied.

    Args:
        folder: must not exist, or be empty.
    """
    # Databases take their time to load.
    from gluepot.service.backup import back_up  # noqa: PLC0415

    copied = back_up(folder, os.environ)
    print(f"{', '.join(copied.files) or 'Nothing'} is in {folder}.")
    for name in copied.elsewhere:
        print(f"The database of the {name} is on a server; back it up there, for example with pg_dump.")


@app.command
def restore(folder: Path) -> None:
    """Restore the databases and keys of a backup while no service runs; the replaced files are kept next to them.

    Args:
        folder: a folder that `gluepot serve backup` created.
    """
    from gluepot.service import backup  # noqa: PLC0415

    suffix = f".before-{datetime.fromtimestamp(SystemClock().epoch(), UTC):%Y%m%d-%H%M%S}"
    copied = backup.restore(folder, os.environ, suffix)
    print(f"{', '.join(copied.files) or 'Nothing'} is restored; what was there has names that end with {suffix}.")
    for name in copied.elsewhere:
        print(f"The database of the {name} is on a server now; its backup was not restored.")


@app.command
def console() -> None:
    """Print a link that opens the console of the running service in a browser: once, within ten minutes."""
    where = where_it_serves(os.environ)
    print(console_link(where.url, where.key, SystemClock().epoch()))
