"""What a connection says of a database, as the options that it stands for (glue-api 11.5)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog.connections import load
from catalog.connections.references import resolve
from connectors.jdbc.endpoint import JdbcEndpoint
from connectors.jdbc.settings import JdbcReadSettings
from connectors.jdbc.target import JdbcWriteSettings
from etlcore.errors import ConfigError

_DATABASE = re.compile(r"^(jdbc:[a-z0-9]+://[^/;?]+).*", re.DOTALL)
_OPTIONS = {
    "JDBC_CONNECTION_URL": "url",
    "USERNAME": "user",
    "PASSWORD": "password",
    "JDBC_DRIVER_JAR_URI": "customJdbcDriverS3Path",
    "JDBC_DRIVER_CLASS_NAME": "customJdbcDriverClassName",
}


def read_settings(options: Mapping[str, Any]) -> JdbcReadSettings:
    """Check the options of a read, with its connection beneath them.

    Raises:
        ConfigError: an option is wrong, or there is no such connection.
    """
    return JdbcReadSettings.from_glue(options, _beneath(options))


def write_settings(options: Mapping[str, Any]) -> JdbcWriteSettings:
    """Check the options of a write, with its connection beneath them.

    Raises:
        ConfigError: an option is wrong, or there is no such connection.
    """
    return JdbcWriteSettings.from_glue(options, _beneath(options))


def connection_options(
    name: str, connections_file: Path | None = None, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return what a connection stands for: `url`, `user`, `password`, ...; references are followed here.

    Raises:
        ConfigError: there is no such connection, or it names no database.
    """
    given = {
        prop: resolve(value, environ, f"connection {name!r}, property {prop}")
        for prop, value in load(connections_file).get(name).properties.items()
    }
    options = {option: given[prop] for prop, option in _OPTIONS.items() if given.get(prop)}
    if "url" not in options and given.get("HOST"):
        engine = given.get("JDBC_ENGINE", "postgresql").lower()
        port = f":{given['PORT']}" if given.get("PORT") else ""
        options["url"] = f"jdbc:{engine}://{given['HOST']}{port}"
    if "url" not in options:
        raise ConfigError(f"connection {name!r} names no database; give it JDBC_CONNECTION_URL.")
    if given.get("JDBC_ENFORCE_SSL", "").lower() == "true" and "ssl" not in options["url"]:
        options["url"] += f"{'&' if '?' in options['url'] else '?'}ssl=true"
    return options


def jdbc_conf(name: str) -> dict[str, str]:
    """Return a connection as `extract_jdbc_conf` has it: `url` is without the database, `fullUrl` with it.

    Raises:
        ConfigError: there is no such connection, or it names no database.
    """
    options = connection_options(name)
    url = options["url"]
    return {
        "user": options.get("user", ""),
        "password": options.get("password", ""),
        "vendor": JdbcEndpoint(url).vendor,
        "url": _DATABASE.sub(r"\1", url),
        "fullUrl": url,
        "enforceSSL": str("ssl=true" in url).lower(),
        "customJDBCCert": "",
        "skipCustomJDBCCertValidation": "false",
        "customJDBCCertString": "",
    }


def _beneath(options: Mapping[str, Any]) -> Mapping[str, str]:
    name = options.get("connectionName")
    return connection_options(str(name)) if name else {}
