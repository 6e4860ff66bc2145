"""PostgreSQL through the Arrow-native driver: from the server to Arrow, without becoming rows on the way."""

from gluepot.connectors.jdbc.postgresql.database import PostgresqlRelation, open_relation
from gluepot.connectors.jdbc.postgresql.source import JdbcSplit, PostgresqlSource

__all__ = ["JdbcSplit", "PostgresqlRelation", "PostgresqlSource", "open_relation"]
