"""Kafka as a source of streams, and as a sink."""
