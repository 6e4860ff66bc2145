"""MERGE statements into tables of Delta whose keys are looked up in Arrow, beside Spark's own MERGE."""

from __future__ import annotations

from tests.differential.merges.rounds import Merges


class Kind(Merges):
    """Statements into tables of Delta."""

    name = "merge_delta"
    form = "delta"
