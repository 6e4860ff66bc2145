"""Schemas of a registry: whether they are valid, and whether readers of one can read records of another. Pure."""
