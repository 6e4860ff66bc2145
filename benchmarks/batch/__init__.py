"""Batch jobs over files, beside stock Spark and DuckDB."""
