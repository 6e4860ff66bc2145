"""Draining a preloaded topic into partitioned Parquet."""
