"""The databases to which a write is published once, by their own clients."""

from __future__ import annotations

from gluepot.connectors.jdbc.publishing import TableDatabase
from gluepot.connectors.jdbc.target import JdbcWriteSettings
from gluepot.core.errors import NotSupported


def table_database(settings: JdbcWriteSettings) -> TableDatabase:
    """Return the database that a write goes to.

    Raises:
        NotSupported: no driver that we ship writes to it.
    """
    if settings.endpoint.is_arrow_native:
        # Each database's own client is imported only when a script writes to such a database, because it loads slowly.
        from gluepot.connectors.jdbc.postgresql.publish import PostgresqlTables  # noqa: PLC0415

        return PostgresqlTables(settings)
    if settings.redshift is not None and not settings.endpoint.driver_jar:
        from gluepot.connectors.jdbc.redshift.publish import RedshiftTables  # noqa: PLC0415

        return RedshiftTables(settings, settings.redshift)
    raise NotSupported(
        f"Writing to {settings.endpoint.shown} through a driver of the script's own",
        "PostgreSQL needs none: leave customJdbcDriverS3Path out. For others use toDF().write.jdbc(...),"
        " which may write a retried batch twice.",
    )
