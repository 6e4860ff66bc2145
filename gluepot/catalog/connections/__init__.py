"""Glue connections by name, kept in a YAML file."""

from gluepot.catalog.connections.connection import Connection, Connections
from gluepot.catalog.connections.file import load
from gluepot.catalog.connections.jdbc import JdbcConnection, jdbc_connection
from gluepot.catalog.connections.kafka import kafka_options
from gluepot.catalog.connections.mongodb import mongodb_options
from gluepot.catalog.connections.opensearch import opensearch_options

__all__ = [
    "Connection",
    "Connections",
    "JdbcConnection",
    "jdbc_connection",
    "kafka_options",
    "load",
    "mongodb_options",
    "opensearch_options",
]
