"""`gluepot serve`: AWS Glue's API on this machine, for unmodified clients."""

from __future__ import annotations

import os
import shlex
import signal

from cyclopts import App

from gluepot.core.clock import SystemClock
from gluepot.core.sockets import LOOPBACK
from gluepot.service.server import (
    DEFAULT_PORT,
    DEFAULT_REGION,
    ServeOptions,
    client_environment,
    console_link,
    service,
    where_it_serves,
)

app = App(
    name="serve", help="AWS Glue's API on this machine: unmodified AWS clients define, start, watch and stop jobs."
)


@app.default
def serve(*, host: str = LOOPBACK, port: int = DEFAULT_PORT, region: str = DEFAULT_REGION) -> None:
    """Serve until Ctrl-C or a signal. Runs go on without the service; the next one finds them again.

    Args:
        host: address to listen on. Requests must be signed, but they are not encrypted.
        port: 0 takes a free one.
        region: region in the names of resources.
    """
    clock = SystemClock()
    with service(ServeOptions(host, port, region), os.environ, clock) as serving:
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, lambda *_: serving.stop())
        print(
            f"AWS Glue's API is at {serving.url}; `gluepot serve env` prints what a shell needs. Ctrl-C ends it.\n"
            f"The console opens, once, with {console_link(serving.url, serving.key, clock.epoch())}\n"
            "`gluepot serve console` prints another link.",
            flush=True,
        )
        serving.ended.wait()


@app.command
def env() -> None:
    """Print the lines with which AWS clients of a shell talk to the running service: eval "$(gluepot serve env)"."""
    url, region, key = where_it_serves(os.environ)
    for name, value in client_environment(url, region, key).items():
        print(f"export {name}={shlex.quote(value)}")


@app.command
def console() -> None:
    """Print a link that opens the console of the running service in a browser: once, within ten minutes."""
    url, _, key = where_it_serves(os.environ)
    print(console_link(url, key, SystemClock().epoch()))
