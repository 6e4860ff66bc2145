"""The state file that `gluepot up` writes about a running server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from gluepot.core.cachedir import cache_root
from gluepot.core.sockets import LOOPBACK
from gluepot.servers.process import ProcessId, is_alive

EMULATORS = ("kinesis", "s3")
"""The servers that stand for a service of AWS."""
REGION = "us-east-1"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_REGION": REGION,
    "AWS_DEFAULT_REGION": REGION,
}


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server that was started to outlive its shell.

    Args:
        server: name of the server, e.g. `kafka`.
        process: the process to stop; its start time protects another process that has got the same number since.
        port: port on loopback to which clients connect.
        log: path of its log file.
        installation: folder of the Python environment that started it.
    """

    server: str
    process: ProcessId
    port: int
    log: str
    installation: str = ""

    @property
    def bootstrap(self) -> str:
        """`host:port`."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def address(self) -> str:
        """The address for clients: `host:port` of a broker, or the URL of a server that speaks HTTP."""
        return self.bootstrap if self.server == "kafka" else f"http://{self.bootstrap}"

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables with which clients of AWS, and jobs, find an emulator; empty of other servers.

        The emulators check no credentials; clients want to have some, and these belong to nobody.
        """
        if self.server not in EMULATORS:
            return {}
        return {f"AWS_ENDPOINT_URL_{self.server.upper()}": self.address, **CREDENTIALS}


def dump_state(state: ServerState) -> str:
    """Return the text of the state file."""
    return json.dumps(asdict(state), indent=2) + "\n"


def parse_state(text: str) -> ServerState | None:
    """Read a state file; return None if it is damaged, e.g. half written at a power cut, when no server can be left."""
    try:
        plain = json.loads(text)
        return ServerState(
            plain["server"], ProcessId(**plain["process"]), plain["port"], plain["log"], plain.get("installation", "")
        )
    except (ValueError, TypeError, KeyError):
        return None


def server_folder(environ: Mapping[str, str], server: str) -> Path:
    """Return the folder with data, log and state of a server that `gluepot up` starts."""
    return cache_root(environ) / "servers" / server


def read_state(folder: Path) -> ServerState | None:
    """Return the state that `write_state` wrote; None if there is none."""
    try:
        return parse_state((folder / "state.json").read_text())
    except FileNotFoundError:
        return None


def running_server(environ: Mapping[str, str], server: str) -> ServerState | None:
    """Return the state of a server that runs; None if it does not."""
    state = read_state(server_folder(environ, server))
    return state if state and is_alive(state.process) else None


def write_state(folder: Path, state: ServerState) -> None:
    """Write the state of a server into an existing folder."""
    (folder / "state.json").write_text(dump_state(state))


def forget_state(folder: Path) -> None:
    """Remove the state file, if there is one."""
    (folder / "state.json").unlink(missing_ok=True)
