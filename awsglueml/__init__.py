"""Glue's transforms that learn from data: importable, and each says when it is applied that it is not there."""
