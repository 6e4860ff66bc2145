"""Merging changes from a topic into an Iceberg table."""
