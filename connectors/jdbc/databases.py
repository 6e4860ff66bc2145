"""The databases to which a write is published once: by their own clients, or by a Java driver of the user's."""

from __future__ import annotations

from gluepot.connectors.jdbc.endpoint import MYSQL, POSTGRESQL
from gluepot.connectors.jdbc.publishing import TableDatabase
from gluepot.connectors.jdbc.redshift_options import REDSHIFT
from gluepot.connectors.jdbc.target import JdbcWriteSettings
from gluepot.core.errors import ConfigError, NotSupported


def table_database(settings: JdbcWriteSettings) -> TableDatabase:
    """Return the database that a write goes to.

    Raises:
        NotSupported: the script names a driver where none is needed.
        ConfigError: its client is not installed.
    """
    if settings.endpoint.is_arrow_native:
        # Each database's own client is imported only when a script writes to such a database, because it loads slowly.
        from gluepot.connectors.jdbc.postgresql.publish import PostgresqlTables  # noqa: PLC0415

        return PostgresqlTables(settings)
    if settings.redshift is not None and not settings.endpoint.driver_jar:
        from gluepot.connectors.jdbc.redshift.publish import RedshiftTables  # noqa: PLC0415

        return RedshiftTables(settings, settings.redshift)
    if settings.endpoint.vendor in MYSQL:
        try:
            from gluepot.connectors.jdbc.mysql.publish import MysqlTables  # noqa: PLC0415
        except ImportError as missing:
            raise ConfigError("A write to MySQL or MariaDB needs PyMySQL; install gluepot[mysql].") from missing
        return MysqlTables(settings)
    if settings.endpoint.vendor in {POSTGRESQL, REDSHIFT}:
        raise NotSupported(
            f"Writing to {settings.endpoint.shown} through a driver of the script's own",
            "PostgreSQL and Redshift need none: leave customJdbcDriverS3Path out.",
        )
    from gluepot.connectors.jdbc.java.publish import JavaTables  # noqa: PLC0415

    return JavaTables(settings)
