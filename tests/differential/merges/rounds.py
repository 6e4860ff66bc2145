"""A round of merges: a few tables, several statements each."""

from __future__ import annotations

from random import Random

from tests.differential.kind import Round, World
from tests.differential.merges.lake import Lake
from tests.differential.merges.stories import story

_STEPS = 10


class Merges:
    """Statements into tables of a format."""

    unit = "statements"
    form: str

    def round(self, random: Random, world: World, stories: int = 2) -> Round:
        """Compare the statements of some tables."""
        lake, total = Lake(world.spark(), self.form, world.folder), Round()
        with lake.fast():
            for _ in range(stories):
                lake.compare(story(random, self.form, _STEPS), total)
        return total
