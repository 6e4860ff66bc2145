"""A round of merges: a few tables, several statements each."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from tests.differential.kind import Round, World
from tests.differential.merges.lake import Lake
from tests.differential.merges.stories import story

_STEPS = 10


class Merges:
    """Statements into tables of a format."""

    unit = "statements"
    form: str

    def round(self, random: Random, world: World) -> Round:
        """Compare the statements of some tables."""
        return merges(self.form, random, world.spark(), world.folder, stories=2)


def merges(form: str, random: Random, spark: Any, folder: Path, *, stories: int) -> Round:
    """Compare the statements of as many tables as there are stories."""
    lake, total = Lake(spark, form, folder), Round()
    with lake.fast():
        for _ in range(stories):
            lake.compare(story(random, form, _STEPS), total)
    return total
