"""MERGE statements into tables of Iceberg whose keys are looked up in Arrow, beside Spark's own MERGE."""

from __future__ import annotations

from tests.differential.merges.rounds import Merges


class Kind(Merges):
    """Statements into tables of Iceberg."""

    name = "merge_iceberg"
    form = "iceberg"
