"""Values by reference: `env:NAME`, `file:/path` or `secretsmanager:NAME#member` in place of a secret."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gluepot.catalog.connections.secrets import secret_member, secret_text
from gluepot.core.errors import ConfigError


def resolve(value: str, environ: Mapping[str, str], owner: str) -> str:
    """Return what the value refers to, or the value itself when it is no reference.

    Args:
        value: `env:NAME`, `file:/path` (its text without the last line end), `secretsmanager:NAME` or its ARN in place
            of the name, with `#member` for one member of a JSON object, or a plain value.
        environ: where `env:` looks.
        owner: whose value it is, for the error, e.g. `connection 'events', property KAFKA_SSL_ENABLED`.

    Raises:
        ConfigError: the variable is not set, the file cannot be read, or there is no such secret.
        TransientError: Secrets Manager does not answer.
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
        case "secretsmanager:":
            name, hash_sign, member = target.partition("#")
            text = secret_text(name, owner)
            return secret_member(text, member, name, owner) if hash_sign else text
        case _:
            return value
