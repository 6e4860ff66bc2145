"""What can be wrong with a schema. Pure."""

from __future__ import annotations


class SchemaProblem(Exception):
    """A schema is not valid in its format."""
