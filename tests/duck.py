"""DuckDB, which reads what we wrote and is neither Spark nor our code."""

from __future__ import annotations

from functools import cache

import duckdb


def duck() -> duckdb.DuckDBPyConnection:
    """Return a connection of its own to a database that all tests of a process share.

    Opening a database takes twenty times the processor time of reading a small file with it.
    """
    return _database().cursor()


@cache
def _database() -> duckdb.DuckDBPyConnection:
    # Without the cache, every read sees the files as they are on the disk at that moment.
    return duckdb.connect(config={"enable_external_file_cache": False})
