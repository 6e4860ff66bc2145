"""Glue's machine-learning transforms. Scripts can import all of them; one that is not supported fails when applied."""
