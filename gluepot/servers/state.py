"""The note that `gluepot up` leaves about a running server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from gluepot.core.cachedir import cache_root
from gluepot.servers.ports import LOOPBACK
from gluepot.servers.process import ProcessId


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server that was started to outlive its shell.

    Args:
        server: its name, e.g. `kafka`.
        process: whom to stop; its start time guards against a number given away again.
        port: where clients connect, on loopback.
        log: its log file.
    """

    server: str
    process: ProcessId
    port: int
    log: str

    @property
    def bootstrap(self) -> str:
        """`host:port`."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def address(self) -> str:
        """What clients are given: `host:port` of a broker, the URL of what speaks HTTP."""
        return f"http://{self.bootstrap}" if self.server == "kinesis" else self.bootstrap


def dump_state(state: ServerState) -> str:
    """Return the text of the state file."""
    return json.dumps(asdict(state), indent=2) + "\n"


def parse_state(text: str) -> ServerState | None:
    """Read a state file; None when it is not one, e.g. half written at a power cut: there is no server to find then."""
    try:
        plain = json.loads(text)
        return ServerState(plain["server"], ProcessId(**plain["process"]), plain["port"], plain["log"])
    except (ValueError, TypeError, KeyError):
        return None


def server_folder(environ: Mapping[str, str], server: str) -> Path:
    """Return the folder with data, log and state of a server that `gluepot up` starts."""
    return cache_root(environ) / "servers" / server


def read_state(folder: Path) -> ServerState | None:
    """Return what `write_state` wrote, or None."""
    try:
        return parse_state((folder / "state.json").read_text())
    except FileNotFoundError:
        return None


def write_state(folder: Path, state: ServerState) -> None:
    """Remember a server; the folder exists."""
    (folder / "state.json").write_text(dump_state(state))


def forget_state(folder: Path) -> None:
    """Remove what `write_state` wrote; harmless where there is nothing."""
    (folder / "state.json").unlink(missing_ok=True)
