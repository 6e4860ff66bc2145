"""`gluepot up`, `gluepot status`, `gluepot down`: servers that outlive the shell they were started from."""

from __future__ import annotations

import json
import os
from typing import Literal

from etlcore.clock import SystemClock
from etlcore.errors import PermanentError
from gluepot.servers.kafka import STOP_SECS, KafkaBroker
from gluepot.servers.process import is_alive, terminate
from gluepot.servers.state import ServerState, forget_state, read_state, server_folder, write_state

KAFKA: Literal["kafka"] = "kafka"


def up(server: Literal["kafka"] = KAFKA, *, port: int = 0) -> None:
    """Start a development server and leave it running.

    It listens on this machine alone. Topics and records are kept until the next start.

    Args:
        server: which one.
        port: the port clients connect to; 0 takes a free one.
    """
    running = _running()
    if running:
        print(f"{server} already runs at {running.bootstrap}; its log is {running.log}")
        return
    folder = server_folder(os.environ, server)
    broker = KafkaBroker(folder, port=port, outlives_us=True)
    broker.start()
    if broker.process is None:
        raise PermanentError(f"The {server} server ended as soon as it was ready; its log is {broker.log}.")
    write_state(folder, ServerState(server, broker.process, broker.port, str(broker.log)))
    print(f"{server} runs at {broker.bootstrap}; stop it with `gluepot down`. Its log is {broker.log}")


def status(*, output: Literal["text", "json"] = "text") -> None:
    """Show the development servers that run.

    Args:
        output: text for people; json for programs: a list of objects with server, bootstrap, pid, log.
    """
    running = _running()
    if output == "json":
        print(json.dumps([_plain(running)] if running else []))
    elif running:
        print(f"{running.server} runs at {running.bootstrap}, pid {running.process.pid}, log {running.log}")
    else:
        print("No server runs; start one with `gluepot up kafka`.")


def down() -> None:
    """Stop the development servers; their data stays for the next start."""
    folder = server_folder(os.environ, KAFKA)
    running = _running()
    if running:
        terminate(running.process, STOP_SECS, SystemClock())
        print(f"{running.server} is stopped.")
    else:
        print("No server runs.")
    forget_state(folder)


def _running() -> ServerState | None:
    state = read_state(server_folder(os.environ, KAFKA))
    return state if state and is_alive(state.process) else None


def _plain(state: ServerState) -> dict[str, str | int]:
    return {"server": state.server, "bootstrap": state.bootstrap, "pid": state.process.pid, "log": state.log}
