"""Servers for development and tests, on this machine alone: a real Apache Kafka broker from its own jars."""
