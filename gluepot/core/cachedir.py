"""The cache folder, for files that can be fetched or made again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def cache_root(environ: Mapping[str, str]) -> Path:
    """Return our cache folder; it need not exist yet.

    Args:
        environ: `GLUEPOT_HOME` names the folder itself; otherwise it is `gluepot` under `XDG_CACHE_HOME`, which is
            `~/.cache` where unset, as the XDG base directory specification says.
    """
    if own := environ.get("GLUEPOT_HOME"):
        return Path(own).expanduser().absolute()
    if xdg := environ.get("XDG_CACHE_HOME"):
        return Path(xdg).expanduser().absolute() / "gluepot"
    return Path.home() / ".cache" / "gluepot"
