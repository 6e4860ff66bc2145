"""The settings of a database read or write: the options, completed by the connection that they name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gluepot.bookmarks import jobrun
from gluepot.catalog.connections import jdbc_connection, load
from gluepot.catalog.connections.properties import Properties
from gluepot.connectors.jdbc.settings import JdbcReadSettings
from gluepot.connectors.jdbc.target import JdbcWriteSettings

_OPTIONS = {
    "JDBC_CONNECTION_URL": "url",
    "USERNAME": "user",
    "PASSWORD": "password",
    "JDBC_DRIVER_JAR_URI": "customJdbcDriverS3Path",
    "JDBC_DRIVER_CLASS_NAME": "customJdbcDriverClassName",
}


def read_settings(options: Mapping[str, Any]) -> JdbcReadSettings:
    """Check the options of a read.

    Raises:
        ConfigError: an option is wrong, or there is no such connection.
    """
    return JdbcReadSettings.from_glue(options, _connection(options))


def write_settings(options: Mapping[str, Any]) -> JdbcWriteSettings:
    """Check the options of a write.

    Raises:
        ConfigError: an option is wrong, or there is no such connection.
    """
    return JdbcWriteSettings.from_glue(options, _connection(options))


def _connection(options: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the options from the connection `connectionName` (docs/glue 11.5), resolved, and from the job."""
    name = str(options.get("connectionName") or "")
    run = jobrun.current()
    # Glue stages for Redshift in --TempDir if the script names no folder.
    temp_dir = {"redshiftTmpDir": run.temp_dir} if run and run.temp_dir else {}
    if not name:
        return temp_dir
    found = load().get(name)
    if found.type == "jdbc":
        return temp_dir | jdbc_connection(found).to_options()
    # Of another type, such as one to a network or of a connector; the script gives what is missing.
    properties = Properties(found, os.environ)
    return temp_dir | {
        option: properties.optional(prop) for prop, option in _OPTIONS.items() if prop in found.properties
    }
