"""Looks for a table of Amazon Redshift."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from awsglue.jdbc_connection import write_settings
from gluepot.connectors.jdbc.redshift.catalog import find_table
from gluepot.connectors.jdbc.redshift.session import connection


def is_there(options: Mapping[str, Any]) -> bool:
    """Return whether the table of a write exists.

    Raises:
        ConfigError: an option is missing or wrong.
        TransientError: the server cannot be reached.
    """
    settings = write_settings(options)
    with connection(settings.endpoint) as session:
        return find_table(session, settings.table).exists
