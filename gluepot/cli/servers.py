"""`gluepot up`, `gluepot status`, `gluepot down`: development servers that outlive the shell that started them."""

from __future__ import annotations

import json
import os
from typing import Annotated, Literal, get_args

from cyclopts import Parameter

from gluepot.core.clock import SystemClock
from gluepot.core.errors import PermanentError
from gluepot.job.options import PORTS
from gluepot.servers.embedded import STOP_SECS, EmbeddedServer
from gluepot.servers.process import is_alive, terminate
from gluepot.servers.state import ServerState, forget_state, read_state, server_folder, write_state

Name = Literal["kafka", "kinesis", "s3"]


def up(server: Name = "kafka", *, port: Annotated[int, Parameter(validator=PORTS)] = 0) -> None:
    """Start a development server and leave it running.

    It listens on this machine only. Topics of Kafka and their records are still there after the next start; streams of
    Kinesis and buckets of S3 are lost when the server ends.

    Args:
        server: which one.
        port: the port clients connect to; 0 takes a free one.
    """
    running = _running(server)
    if running:
        print(f"{server} already runs at {running.address}; its log is {running.log}")
        return
    folder = server_folder(os.environ, server)
    started = _kind_of(server)(folder, port=port, outlives_us=True)
    started.start()
    if started.process is None:
        raise PermanentError(f"The {server} server ended as soon as it was ready; its log is {started.log}.")
    state = ServerState(server, started.process, started.port, str(started.log))
    write_state(folder, state)
    print(f"{server} runs at {state.address}; stop it with `gluepot down`. Its log is {started.log}")


def status(*, output: Literal["text", "json"] = "text") -> None:
    """Show the running development servers.

    Args:
        output: text for people; json for programs: a list of objects with server, address, bootstrap, pid, log.
    """
    running = _all_running()
    if output == "json":
        print(json.dumps([_plain(state) for state in running]))
    elif running:
        for state in running:
            print(f"{state.server} runs at {state.address}, pid {state.process.pid}, log {state.log}")
    else:
        print("No server runs; start one with `gluepot up kafka`, `gluepot up kinesis` or `gluepot up s3`.")


def down() -> None:
    """Stop the development servers; Kafka's data is kept for the next start."""
    running = _all_running()
    for state in running:
        terminate(state.process, STOP_SECS, SystemClock())
        print(f"{state.server} is stopped.")
    if not running:
        print("No server runs.")
    for name in get_args(Name):
        forget_state(server_folder(os.environ, name))


def _kind_of(server: Name) -> type[EmbeddedServer]:
    # Every command imports this module, and these take their time to load.
    from gluepot.servers.kafka import KafkaBroker  # noqa: PLC0415
    from gluepot.servers.kinesis import KinesisServer  # noqa: PLC0415
    from gluepot.servers.s3 import S3Server  # noqa: PLC0415

    return {"kafka": KafkaBroker, "kinesis": KinesisServer, "s3": S3Server}[server]


def _all_running() -> list[ServerState]:
    return [state for name in get_args(Name) if (state := _running(name))]


def _running(server: str) -> ServerState | None:
    state = read_state(server_folder(os.environ, server))
    return state if state and is_alive(state.process) else None


def _plain(state: ServerState) -> dict[str, str | int]:
    return {
        "server": state.server,
        "address": state.address,
        "bootstrap": state.bootstrap,
        "pid": state.process.pid,
        "log": state.log,
    }
