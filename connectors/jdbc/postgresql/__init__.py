"""PostgreSQL through the Arrow-native driver, which returns columns and builds no rows."""

from gluepot.connectors.jdbc.postgresql.database import PostgresqlRelation, open_relation
from gluepot.connectors.jdbc.postgresql.source import JdbcSplit, PostgresqlSource

__all__ = ["JdbcSplit", "PostgresqlRelation", "PostgresqlSource", "open_relation"]
