"""The access keys that may call the service."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gluepot.core.errors import ConfigError
from gluepot.core.private import make_private_file, make_private_folder


@dataclass(frozen=True, slots=True)
class KeyPair:
    """An access key.

    Args:
        id: its id, which requests name.
        secret: its secret, which signs them.
    """

    id: str
    secret: str

    def __repr__(self) -> str:
        """Leave the secret out."""
        return f"KeyPair({self.id!r})"


def own_key(path: Path) -> KeyPair:
    """Return the key pair of a file, which only its owner may read; a new one if there is no file.

    Raises:
        ConfigError: the file holds no key pair.
    """
    if not path.exists():
        make_private_folder(path.parent)
        made = {"id": f"GLUEPOT{secrets.token_hex(7).upper()}", "secret": secrets.token_urlsafe(30)}
        make_private_file(path, json.dumps(made))
    try:
        found = json.loads(path.read_text())
        return KeyPair(str(found["id"]), str(found["secret"]))
    except (ValueError, KeyError, TypeError):
        raise ConfigError(f"{path} holds no access key; move it away, and a new one is made.") from None


def own_token(path: Path) -> str:
    """Return the token of a file, which only its owner may read; a new one if there is no file."""
    make_private_file(path, secrets.token_urlsafe(30))
    return path.read_text().strip()


def keys_of(own: KeyPair, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets by the ids of keys: the service's own and the one of its environment, which runs inherit."""
    keys = {own.id: own.secret}
    given, secret = environ.get("AWS_ACCESS_KEY_ID"), environ.get("AWS_SECRET_ACCESS_KEY")
    if given and secret:
        keys[given] = secret
    return keys
