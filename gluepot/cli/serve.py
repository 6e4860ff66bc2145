"""`gluepot serve`: AWS Glue's API on this machine, for unmodified clients."""

from __future__ import annotations

import os
import shlex
import signal
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from gluepot.core.clock import SystemClock
from gluepot.core.sockets import LOOPBACK
from gluepot.service.server import (
    DEFAULT_PORT,
    DEFAULT_REGION,
    ServeOptions,
    service,
    shell_environment,
)

app = App(
    name="serve", help="AWS Glue's API on this machine: unmodified AWS clients define, start, watch and stop jobs."
)


@app.default
def serve(
    *,
    host: str = LOOPBACK,
    port: int = DEFAULT_PORT,
    region: str = DEFAULT_REGION,
    max_runs: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
) -> None:
    """Serve until Ctrl-C or a signal. Runs go on without the service; the next one finds them again.

    Args:
        host: address to listen on. Requests must be signed, but they are not encrypted.
        port: 0 takes a free one.
        region: region in the names of resources.
        max_runs: how many runs may be active at a time; others wait. Without it there is no limit.
    """
    with service(ServeOptions(host, port, region, max_runs), os.environ, SystemClock()) as serving:
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, lambda *_: serving.stop())
        print(
            f"AWS Glue's API is at {serving.url}; `gluepot serve env` prints what a shell needs. Ctrl-C ends it.",
            flush=True,
        )
        serving.ended.wait()


@app.command
def env() -> None:
    """Print the lines with which AWS clients of a shell talk to the running service: eval "$(gluepot serve env)"."""
    for name, value in shell_environment(os.environ).items():
        print(f"export {name}={shlex.quote(value)}")
