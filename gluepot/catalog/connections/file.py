"""The connections file: where it is found, and how it is read.

```yaml
connections:
  events:
    type: kafka
    properties:
      KAFKA_BOOTSTRAP_SERVERS: broker-1:9092,broker-2:9092
      KAFKA_SASL_MECHANISM: SCRAM-SHA-512
      KAFKA_SASL_SCRAM_USERNAME: env:KAFKA_USER
      KAFKA_SASL_SCRAM_PASSWORD: file:/run/secrets/kafka-password
  warehouse:
    type: jdbc
    properties:
      JDBC_CONNECTION_URL: jdbc:postgresql://db:5432/shop
      SECRET_ID: shop/database
```
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from gluepot.catalog.connections.catalogued import connection_of_catalog
from gluepot.catalog.connections.connection import FILE_NAME, VARIABLE, Connections
from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger


def find(path: Path | None, environ: Mapping[str, str], cwd: Path, home: Path) -> Path | None:
    """Return the file to read: `path`, else `$GLUEPOT_CONNECTIONS`, else the first that exists of the usual places.

    The usual places are `gluepot.connections.yaml` in `cwd` and `.config/gluepot/connections.yaml` in `home`.

    Raises:
        ConfigError: a file that was named is not there.
    """
    named = path or (Path(environ[VARIABLE]) if environ.get(VARIABLE) else None)
    if named is not None:
        if not named.is_file():
            raise ConfigError(f"the connections file {named} does not exist; correct the path or {VARIABLE}")
        return named
    usual = (cwd / FILE_NAME, home / ".config" / "gluepot" / "connections.yaml")
    return next((candidate for candidate in usual if candidate.is_file()), None)


def load(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Connections:
    """Read the connections file; no connections when none was named and none is in the usual places.

    A connection that the file does not have is looked up in the Data Catalog, where CreateConnection puts it.

    Raises:
        ConfigError: the file cannot be read, is not YAML, or has an unknown key, type or property.
    """
    elsewhere = partial(connection_of_catalog, environ)
    found = find(path, environ, Path.cwd(), Path.home())
    if found is None:
        return Connections(elsewhere=elsewhere)
    status = found.stat()
    if remedy := tightening(status.st_mode, status.st_uid, os.geteuid()):
        get_logger(__name__).warning("connections_file_writable_by_others", file=str(found), hint=remedy)
    from gluepot.catalog.connections.content import parse  # noqa: PLC0415  pydantic takes its time to load

    return replace(parse(_read_yaml(found), found), elsewhere=elsewhere)


def tightening(mode: int, owner_uid: int, own_uid: int) -> str | None:
    """Return what keeps other users from changing a file; None where they cannot change it now.

    Args:
        mode: of the file, as `stat` gives it.
        owner_uid: who owns the file. Root may own any file, since root can change it in any case.
        own_uid: who reads it.
    """
    if owner_uid not in {0, own_uid}:
        return f"The file belongs to the user {owner_uid}, who can send our passwords to another server; chown it."
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "Whoever can write it can send our passwords to another server; run chmod go-w on it."
    return None


def _read_yaml(path: Path) -> object:
    import yaml  # noqa: PLC0415  most jobs have no connections file

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; check its owner and mode") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        # Without the cause: it quotes the file.
        raise ConfigError(f"{path} is not YAML{_line_of(error)}; correct it there") from None


def _line_of(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return "" if mark is None else f" at line {mark.line + 1}"
