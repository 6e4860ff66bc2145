"""What `forEachBatch` does about a batch function that raises: attempts and waits are Glue's."""

from __future__ import annotations

import pytest

from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError


class Trouble(Exception):
    """What a script of our own would raise."""


class FailingFunction:
    """A batch function that raises in its first attempts at each batch."""

    def __init__(self, failures_per_batch: int, error: type[Exception] = Trouble) -> None:
        self.attempts: list[int] = []
        self.rows: list[list[int]] = []
        self._failures = failures_per_batch
        self._error = error

    def __call__(self, frame, batch_id):
        self.attempts.append(batch_id)
        self.rows.append(sorted(row.value for row in frame.collect()))
        if self.attempts.count(batch_id) <= self._failures:
            raise self._error(f"attempt {self.attempts.count(batch_id)} of batch {batch_id}")


@pytest.mark.parametrize(("failures", "waits"), [(0, []), (1, [1.0]), (2, [1.0, 2.0]), (3, [1.0, 2.0, 5.0])])
def test_a_function_that_recovers_is_called_once_more_than_it_failed(numbers, failures, waits):
    clock, function = FakeClock(), FailingFunction(failures)

    numbers.run(function, clock=clock)

    assert function.attempts == [0] * (failures + 1)
    assert clock.waits == waits


def test_a_function_that_fails_once_more_than_it_is_retried_ends_the_job_with_its_own_error(numbers):
    clock, function = FakeClock(), FailingFunction(failures_per_batch=4)

    with pytest.raises(Trouble, match="attempt 4 of batch 0"):
        numbers.run(function, clock=clock)

    assert function.attempts == [0, 0, 0, 0]
    assert clock.waits == [1.0, 2.0, 5.0]


def test_a_batch_that_is_tried_again_holds_the_same_rows(numbers):
    function = FailingFunction(failures_per_batch=2)

    numbers.run(function, clock=FakeClock())

    assert function.rows == [list(range(10))] * 3


def test_the_count_of_failures_starts_over_after_a_good_batch(numbers):
    clock, function = FakeClock(), FailingFunction(failures_per_batch=2)

    numbers.run(function, clock=clock, max_batches=2, batchMaxRetries=2)

    assert function.attempts == [0, 0, 0, 1, 1, 1]
    assert clock.waits == [1.0, 2.0, 1.0, 2.0]


def test_without_retries_the_first_failure_ends_the_job(numbers):
    clock, function = FakeClock(), FailingFunction(failures_per_batch=1)

    with pytest.raises(Trouble):
        numbers.run(function, clock=clock, batchMaxRetries=0)

    assert function.attempts == [0]
    assert clock.waits == []


def test_a_wrong_configuration_is_not_tried_again(numbers):
    clock, function = FakeClock(), FailingFunction(failures_per_batch=1, error=ConfigError)

    with pytest.raises(ConfigError, match="attempt 1 of batch 0"):
        numbers.run(function, clock=clock)

    assert function.attempts == [0]
    assert clock.waits == []


def test_a_job_started_again_after_a_failure_goes_on_with_the_failed_batch(numbers):
    with pytest.raises(Trouble):
        numbers.run(FailingFunction(failures_per_batch=1), batchMaxRetries=0)
    function = FailingFunction(failures_per_batch=0)

    numbers.run(function)

    assert (function.attempts, function.rows) == ([0], [list(range(10))])
