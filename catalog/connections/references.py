"""Values by reference: `env:NAME` or `file:/path` in place of a secret."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from etlcore.errors import ConfigError


def resolve(value: str, environ: Mapping[str, str], owner: str) -> str:
    """Return what the value refers to, or the value itself when it is no reference.

    Args:
        value: `env:NAME`, `file:/path` (its text without the last line end), or a plain value.
        environ: where `env:` looks.
        owner: whose value it is, for the error, e.g. `connection 'events', property KAFKA_SSL_ENABLED`.

    Raises:
        ConfigError: the variable is not set, or the file cannot be read.
    """
    kind, _, target = value.partition(":")
    if kind == "env":
        if target not in environ:
            raise ConfigError(f"{owner}: the environment variable of {value!r} is not set; set it before the start")
        return environ[target]
    if kind == "file":
        try:
            return Path(target).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{owner}: the file of {value!r} cannot be read ({_cause(error)}); "
                "give the absolute path of a text file this user may read",
            ) from error
    return value


def _cause(error: OSError | UnicodeDecodeError) -> str:
    # The text of a decode error would quote bytes of the secret.
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else "it is not UTF-8 text"
