"""The state folder, for data that cannot be made again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

VARIABLE = "GLUEPOT_STATE"


def state_root(environ: Mapping[str, str]) -> Path:
    """Return our state folder; it need not exist yet.

    Args:
        environ: `GLUEPOT_STATE` names the folder itself; otherwise it is `gluepot` under `XDG_STATE_HOME`, which is
            `~/.local/state` where unset, as the XDG base directory specification says.
    """
    if own := environ.get(VARIABLE):
        return Path(own).expanduser().absolute()
    if xdg := environ.get("XDG_STATE_HOME"):
        return Path(xdg).expanduser().absolute() / "gluepot"
    return Path.home() / ".local" / "state" / "gluepot"


def event_logs_folder(environ: Mapping[str, str]) -> Path:
    """Return where Spark's event logs go if a job names no place for them; it need not exist yet."""
    return state_root(environ) / "event-logs"
