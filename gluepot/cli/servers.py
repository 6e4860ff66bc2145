"""`gluepot up`, `gluepot status`, `gluepot down`: development servers that outlive the shell that started them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Literal, get_args

from cyclopts import Parameter

from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.statedir import event_logs_folder
from gluepot.job.options import PORTS
from gluepot.servers.embedded import STOP_SECS, EmbeddedServer
from gluepot.servers.process import terminate
from gluepot.servers.state import ServerState, forget_state, running_server, server_folder, write_state

Name = Literal["kafka", "kinesis", "s3", "history"]


def up(
    server: Name = "kafka", *, port: Annotated[int, Parameter(validator=PORTS)] = 0, logs: str | None = None
) -> None:
    """Start a development server and leave it running.

    It listens on this machine only. Topics of Kafka and their records are still there after the next start; streams of
    Kinesis and buckets of S3 are lost when the server ends. The history server is Spark's own. It shows the event logs
    of jobs that ran with `--enable-spark-ui true`.

    Args:
        server: which one.
        port: the port clients connect to; 0 takes a free one.
        logs: the folder of event logs that the history server shows, local or s3://; by default that of jobs which name
            none.
    """
    if logs is not None and server != "history":
        raise ConfigError(f"--logs is for the history server, not for {server}; leave it out.")
    running = running_server(os.environ, server)
    if running:
        print(f"{server} already runs at {running.address}; its log is {running.log}")
        return
    folder = server_folder(os.environ, server)
    started = _new(server, folder, port, logs)
    started.start()
    if started.process is None:
        raise PermanentError(f"The {server} server ended as soon as it was ready; its log is {started.log}.")
    state = ServerState(server, started.process, started.port, str(started.log), sys.prefix)
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
        print("No server runs; start one with `gluepot up kafka`, `kinesis`, `s3` or `history`.")


def down(*, others: bool = False) -> None:
    """Stop the development servers; Kafka's data is kept for the next start.

    Args:
        others: stop also what another installation of Gluepot started, such as another checkout.
    """
    running = _all_running()
    for state in running:
        if not others and state.installation != sys.prefix:
            owner = state.installation or "an older version"
            print(f"{state.server} was started by {owner}; `gluepot down --others` stops it, too.")
            continue
        terminate(state.process, STOP_SECS, SystemClock())
        forget_state(server_folder(os.environ, state.server))
        print(f"{state.server} is stopped.")
    if not running:
        print("No server runs.")


def _new(server: Name, folder: Path, port: int, logs: str | None) -> EmbeddedServer:
    # Every command imports this module, and these take their time to load.
    from gluepot.servers.history import HistoryServer  # noqa: PLC0415
    from gluepot.servers.kafka import KafkaBroker  # noqa: PLC0415
    from gluepot.servers.kinesis import KinesisServer  # noqa: PLC0415
    from gluepot.servers.s3 import S3Server  # noqa: PLC0415

    if server == "history":
        own = event_logs_folder(os.environ)
        if logs is None:
            own.mkdir(parents=True, exist_ok=True)
        return HistoryServer(folder, logs or str(own), port=port, outlives_us=True)
    kinds: dict[str, type[EmbeddedServer]] = {"kafka": KafkaBroker, "kinesis": KinesisServer, "s3": S3Server}
    return kinds[server](folder, port=port, outlives_us=True)


def _all_running() -> list[ServerState]:
    return [state for name in get_args(Name) if (state := running_server(os.environ, name))]


def _plain(state: ServerState) -> dict[str, str | int]:
    return {
        "server": state.server,
        "address": state.address,
        "bootstrap": state.bootstrap,
        "pid": state.process.pid,
        "log": state.log,
    }
