"""Measures that wait for a write: which writes take them along, and when the result counts."""

import pyarrow as pa
import pytest

from gluepot.connectors.values import ManifestPart
from gluepot.engine.measuring import WaitingMeasures
from gluepot.engine.pipeline import Pipeline, SplitInput
from gluepot.frames.transforms import DropFields, SelectFields
from gluepot.quality.measure_rows import MeasureRows
from gluepot.quality.measures import Complete, Measured, Rows, measure

DROP, SELECT = DropFields(("a",)), SelectFields(("b",))
MEASURES = (Rows(),)


@pytest.fixture
def waiting():
    return WaitingMeasures()


@pytest.fixture
def given():
    return Pipeline(SplitInput(source=None, splits=()))


def part(step: MeasureRows, rows: int) -> ManifestPart:
    return ManifestPart(measured={step.name: measure(pa.RecordBatch.from_pydict({"a": [1] * rows}), step.measures)})


def measures_of(pipeline: Pipeline) -> list[int]:
    return [at for at, step in enumerate(pipeline.steps) if isinstance(step, MeasureRows)]


def test_a_write_of_the_same_frame_measures_after_its_steps(waiting, given):
    checked = given.then(DROP)
    waiting.add(checked, MEASURES, done=print)
    pipeline, taken = waiting.taken_along(checked.then(SELECT))
    assert len(taken) == 1
    assert measures_of(pipeline) == [1]
    assert [step for step in pipeline.steps if not isinstance(step, MeasureRows)] == [DROP, SELECT]


@pytest.mark.parametrize(
    "other",
    [
        lambda given: given,  # the write leaves out a step of the checked frame
        lambda given: given.then(SELECT),
        lambda given: given.then(DropFields(("a",))),  # an equal step of another call
        lambda given: Pipeline(SplitInput(source=None, splits=())).then(DROP),  # other records
    ],
)
def test_a_write_of_other_rows_takes_nothing_along(waiting, given, other):
    waiting.add(given.then(DROP), MEASURES, done=print)
    written = other(given)
    assert waiting.taken_along(written) == (written, [])


def test_two_checks_at_different_places_are_measured_where_they_are(waiting, given):
    waiting.add(given, (Complete("a"),), done=print)
    waiting.add(given.then(DROP), MEASURES, done=print)
    pipeline, taken = waiting.taken_along(given.then(DROP))
    assert len(taken) == 2
    assert measures_of(pipeline) == [0, 2]


def test_two_checks_that_measure_the_same_share_a_step(waiting, given):
    seen: list[Measured] = []
    for _ in range(2):
        waiting.add(given, MEASURES, done=seen.append)
    pipeline, taken = waiting.taken_along(given)
    assert measures_of(pipeline) == [0]
    waiting.measured(taken, [part(taken[0].step, 3), part(taken[0].step, 4)])
    assert [one.states[Rows()] for one in seen] == [7, 7]


def test_a_result_is_passed_on_once(waiting, given):
    seen: list[Measured] = []
    waiting.add(given, MEASURES, done=seen.append)
    for _ in range(2):
        _, taken = waiting.taken_along(given)
        waiting.measured(taken, [part(one.step, 5) for one in taken])
    assert [one.states[Rows()] for one in seen] == [5]


def test_a_write_that_ran_no_task_leaves_the_check_waiting(waiting, given):
    seen: list[Measured] = []
    waiting.add(given, MEASURES, done=seen.append)
    _, taken = waiting.taken_along(given)
    waiting.measured(taken, [ManifestPart(rows_out=5)])  # what an earlier attempt has published
    assert not seen
    assert len(waiting.taken_along(given)[1]) == 1


def test_what_somebody_has_measured_is_not_taken_along(waiting, given):
    waiting.drop(waiting.add(given, MEASURES, done=print))
    assert waiting.taken_along(given)[1] == []
