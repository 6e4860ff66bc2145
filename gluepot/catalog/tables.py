"""The catalog's tables in SQL; `migrations` brings a database to them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, MetaData, String, Table, Text

_NAME = String(255)

metadata = MetaData()

databases = Table(
    "catalog_databases",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("body", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)

tables = Table(
    "catalog_tables",
    metadata,
    Column("database", _NAME, primary_key=True),
    Column("name", _NAME, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    # The row of Iceberg's catalog that the entry follows, and what it said when it was last looked at; else NULL.
    Column("iceberg_catalog", _NAME),
    Column("metadata_location", Text),
)

versions = Table(
    "catalog_table_versions",
    metadata,
    Column("database", _NAME, primary_key=True),
    Column("name", _NAME, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("body", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
)

partitions = Table(
    "catalog_partitions",
    metadata,
    Column("database", _NAME, primary_key=True),
    Column("name", _NAME, primary_key=True),
    # Of the values, which may be longer than an index takes.
    Column("digest", String(64), primary_key=True),
    Column("partition_values", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
)

entries = Table(
    "catalog_entries",
    metadata,
    Column("kind", String(20), primary_key=True),
    # Empty where the entry belongs to no database or no table.
    Column("database", _NAME, primary_key=True),
    Column("table_name", _NAME, primary_key=True),
    Column("name", _NAME, primary_key=True),
    Column("body", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
)

# Changes that have yet to be told as events; each is written in the transaction of the change.
changes = Table(
    "catalog_changes",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(36), nullable=False),
    Column("body", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)

# Iceberg's own tables: jobs use them through its JDBC catalog, and other programs through PyIceberg's SQL catalog.
iceberg_tables = Table(
    "iceberg_tables",
    metadata,
    Column("catalog_name", _NAME, primary_key=True),
    Column("table_namespace", _NAME, primary_key=True),
    Column("table_name", _NAME, primary_key=True),
    Column("metadata_location", String(1000)),
    Column("previous_metadata_location", String(1000)),
    Column("iceberg_type", String(5)),
)

iceberg_namespaces = Table(
    "iceberg_namespace_properties",
    metadata,
    Column("catalog_name", _NAME, primary_key=True),
    Column("namespace", _NAME, primary_key=True),
    Column("property_key", _NAME, primary_key=True),
    Column("property_value", String(1000)),
)
