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
    kind, colon, target = value.partition(":")
    match kind + colon:
        case "env:":
            if target not in environ:
                raise ConfigError(
                    f"{owner}: the variable of {value!r} is not set; set it in the environment of the job"
                )
            return environ[target]
        case "file:":
            try:
                return Path(target).read_text(encoding="utf-8").rstrip("\r\n")
            except (OSError, ValueError) as error:
                # Without the cause: a decode error quotes bytes of the secret.
                reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
                raise ConfigError(
                    f"{owner}: the file of {value!r} cannot be read ({reason}); "
                    "give the absolute path of a text file that this user may read",
                ) from None
        case _:
            return value
