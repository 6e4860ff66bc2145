"""MERGE statements that run without Spark's join."""

from gluepot.connectors.lake.merging.install import use_own_merges

__all__ = ["use_own_merges"]
