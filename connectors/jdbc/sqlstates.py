"""Classes of SQLSTATE, which PostgreSQL and Redshift share, by what the caller does next. Pure."""

AWAY = ("08", "40", "53", "55", "57", "58")
"""Errors that may pass: connection, rollback, resources, lock, intervention, system."""
OF_THE_JOB = ("0A", "22", "23", "26", "28", "3D", "3F", "42")
"""Errors that only another statement, value, name or right changes."""
