"""Measures that wait for a write of the same rows, which can take them along in its own pass over the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import RLock

from gluepot.connectors.values import ManifestPart
from gluepot.engine.pipeline import Pipeline
from gluepot.quality.measure_rows import MeasureRows
from gluepot.quality.measures import Measure, Measured


@dataclass(frozen=True, slots=True)
class Waiting:
    """Measures of the rows of a pipeline.

    Args:
        pipeline: gives the rows.
        step: measures them.
        done: called with the result, in the driver.
        repeats: whether the same check of the next batch measures the same.
    """

    pipeline: Pipeline
    step: MeasureRows
    done: Callable[[Measured], None]
    repeats: bool

    def spliced(self, into: Pipeline) -> Pipeline | None:
        """Return a pipeline that measures on its way; None if the rows do not pass through it."""
        mine, theirs = self.pipeline.steps, _without_measures(into)
        begins = len(theirs) >= len(mine) and all(a is b for a, b in zip(mine, theirs, strict=False))
        if self.pipeline.input is not into.input or not begins:
            return None
        steps, left = list(into.steps), len(mine)
        at = 0
        while left or (at < len(steps) and isinstance(steps[at], MeasureRows)):
            if steps[at] == self.step and not left:
                return into  # another check measures the same rows
            left -= not isinstance(steps[at], MeasureRows)
            at += 1
        return replace(into, steps=(*steps[:at], self.step, *steps[at:]))


def _without_measures(pipeline: Pipeline) -> list[object]:
    return [step for step in pipeline.steps if not isinstance(step, MeasureRows)]


@dataclass(slots=True)
class WaitingMeasures:
    """The measures that wait in a batch or run. A batch function may write from several threads."""

    _waiting: list[Waiting] = field(default_factory=list)
    _changing: RLock = field(default_factory=RLock)

    def add(
        self,
        pipeline: Pipeline,
        measures: tuple[Measure, ...],
        done: Callable[[Measured], None],
        *,
        repeats: bool = False,
    ) -> Waiting:
        """Let measures wait.

        Args:
            pipeline: gives the rows.
            measures: what to measure.
            done: called with the result, in the driver, after the write.
            repeats: see `Waiting`.
        """
        one = Waiting(pipeline, MeasureRows.of_measures(measures), done, repeats)
        with self._changing:
            self._waiting.append(one)
        return one

    def drop(self, one: Waiting) -> None:
        """Forget measures that somebody has taken."""
        with self._changing, suppress(ValueError):
            self._waiting.remove(one)

    def taken_along(self, pipeline: Pipeline) -> tuple[Pipeline, Sequence[Waiting]]:
        """Return the pipeline of a write with the measures that it can take along, and these."""
        taken = []
        with self._changing:
            for one in list(self._waiting):
                if (longer := one.spliced(pipeline)) is not None:
                    pipeline = longer
                    taken.append(one)
        return pipeline, taken

    def measured(self, taken: Sequence[Waiting], parts: Sequence[ManifestPart]) -> None:
        """Pass on what the tasks of a write have measured. A write that ran no task has measured nothing."""
        for one in taken:
            found = [part.measured[one.step.name] for part in parts if one.step.name in part.measured]
            if len(found) < len(parts):
                continue
            self.drop(one)
            whole = Measured()
            for state in found:
                whole = whole.merged(state)
            one.done(whole)

    def clear(self) -> None:
        """Forget all measures that wait."""
        with self._changing:
            self._waiting.clear()
