"""Which version of Glue the script was written for."""

from __future__ import annotations

import os
from collections.abc import Mapping

from etlcore.errors import ConfigError

VARIABLE = "GLUEPOT_GLUE_VERSION"
KNOWN = ("3.0", "4.0", "5.0", "5.1", "6.0")
DEFAULT = "6.0"


def checked_glue_version(version: str) -> str:
    """Return the version; ConfigError when it is not one of `KNOWN`."""
    if version not in KNOWN:
        raise ConfigError(f"Glue version {version!r} is not known; use one of {', '.join(KNOWN)}")
    return version


def current_glue_version(environ: Mapping[str, str] = os.environ) -> str:
    """Return the version named by `GLUEPOT_GLUE_VERSION`, or the newest; ConfigError when it is not known."""
    return checked_glue_version(environ.get(VARIABLE) or DEFAULT)


def accepts_abbreviations(version: str) -> bool:
    """Tell whether `getResolvedOptions` takes unique prefixes of argument names: it did before Glue 6.0."""
    return float(version) < 6
