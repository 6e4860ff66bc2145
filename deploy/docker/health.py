# noqa: INP001  a script, copied into the image
"""Tells Docker whether the job in this container is well: the ops server it was started with says that it lives.

A job without that server, or with one on any free port, has nothing to ask: such a container is as well as it runs.
Uses the standard library alone, so that a check starts in a few hundredths of a second.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

ANSWER_SECS = 5.0
FIRST_PROCESS = Path("/proc/1/cmdline")


@dataclass(frozen=True, slots=True)
class OpsServer:
    """Where a job serves its metrics and tells of its health."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class NoServer:
    """The job was not told to serve them on a port of its own choice."""


@dataclass(frozen=True, slots=True)
class Health:
    """The answer; `reason` is one sentence for `docker inspect`."""

    well: bool
    reason: str


def ops_server(command: Sequence[str], environment: Mapping[str, str]) -> OpsServer | NoServer:
    """Find the server as `gluepot run` does: in a container's command line, else in its environment.

    Args:
        command: `tini -- gluepot run job.py ...`; what follows a second `--` belongs to the script.
        environment: `GLUEPOT_METRICS_PORT` and `GLUEPOT_METRICS_HOST`, if they are set.
    """
    after_tini = list(command)[command.index("--") + 1 :] if "--" in command else list(command)
    own = after_tini[: after_tini.index("--")] if "--" in after_tini else after_tini
    if own[1:2] != ["run"]:
        return NoServer()
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--metrics-port", type=int, default=int(environment.get("GLUEPOT_METRICS_PORT", "0")))
    parser.add_argument("--metrics-host", default=environment.get("GLUEPOT_METRICS_HOST", "127.0.0.1"))
    known, _ = parser.parse_known_args(own)
    return OpsServer(known.metrics_host, known.metrics_port) if known.metrics_port else NoServer()


def ask(server: OpsServer, wait_secs: float = ANSWER_SECS) -> Health:
    """Ask whether the job lives, which needs no token; returns after `wait_secs` of silence at the latest."""
    connection = HTTPConnection(server.host, server.port, timeout=wait_secs)
    where = f"http://{server.host}:{server.port}/livez"
    try:
        connection.request("GET", "/livez")
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        return Health(well=False, reason=f"{where} does not answer: {error!r}.")
    finally:
        connection.close()
    return Health(well=status == 200, reason=f"{where} answers with status {status}.")


def main(first_process: Path = FIRST_PROCESS, environment: Mapping[str, str] = os.environ) -> None:
    """Print the reason; end with 0 for a job that is well, 1 for one that is not.

    Args:
        first_process: the command line of the container, its words ended by zero bytes.
        environment: of the container.
    """
    match ops_server(first_process.read_text().rstrip("\0").split("\0"), environment):
        case OpsServer() as server:
            health = ask(server)
        case NoServer():
            health = Health(well=True, reason="The job runs; with --metrics-port it could be asked.")
    print(health.reason)
    sys.exit(0 if health.well else 1)


if __name__ == "__main__":
    main()
