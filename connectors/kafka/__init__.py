"""Kafka as a source: options, planning, reading."""
