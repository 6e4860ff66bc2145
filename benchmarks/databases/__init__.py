"""Reads and writes of databases, beside an earlier version of this project."""
