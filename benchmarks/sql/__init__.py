"""Batches that are used as rows of Spark."""
