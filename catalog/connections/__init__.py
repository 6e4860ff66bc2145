"""Glue connections by name, kept in a YAML file."""

from catalog.connections.connection import Connection, Connections
from catalog.connections.file import load
from catalog.connections.jdbc import JdbcConnection, jdbc_connection
from catalog.connections.kafka import kafka_options

__all__ = ["Connection", "Connections", "JdbcConnection", "jdbc_connection", "kafka_options", "load"]
