"""Which Kafka cluster a command talks to."""

from __future__ import annotations

import os
from collections.abc import Mapping

from gluepot.core.errors import ConfigError
from gluepot.servers.state import running_server


def cluster_options(bootstrap: str | None, connection: str | None) -> Mapping[str, str]:
    """Return the options by which a source would name the cluster: the development broker if none is given.

    Args:
        bootstrap: value of `--bootstrap`.
        connection: value of `--connection`.

    Raises:
        ConfigError: both are given, or neither, and no development broker runs.
    """
    if bootstrap and connection:
        raise ConfigError(
            f"--bootstrap {bootstrap} and --connection {connection} both name a cluster; remove one of them."
        )
    if connection:
        return {"connectionName": connection}
    if bootstrap:
        return {"bootstrap.servers": bootstrap}
    running = running_server(os.environ, "kafka")
    if running is None:
        raise ConfigError(
            "No cluster is given, and no development broker runs; give --bootstrap HOST:PORT or --connection NAME, or"
            " start a broker with `gluepot up kafka`."
        )
    return {"bootstrap.servers": running.bootstrap}
