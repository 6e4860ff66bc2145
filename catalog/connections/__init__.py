"""Glue connections by name, kept in a YAML file."""

from catalog.connections.connection import Connection, Connections
from catalog.connections.file import load
from catalog.connections.kafka import kafka_options

__all__ = ["Connection", "Connections", "kafka_options", "load"]
