import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.errors import CheckpointError, ConfigError, DataLoss, PermanentError, TransientError
from gluepot.streaming.query.retry import GiveUp, RetryAfter, after_failure, is_final, may_be_committed_late
from gluepot.streaming.settings import StreamSettings


def settings(retries):
    return StreamSettings(window_size_secs=1, checkpoint_location="/tmp/c", batch_max_retries=retries)


def outcomes_until_the_end(retries):
    for failures in range(1, 200):
        outcome = after_failure(failures, settings(retries))
        yield outcome
        if isinstance(outcome, GiveUp):
            return


def test_waits_are_one_two_then_five_seconds():
    waits = [o.wait_secs for o in outcomes_until_the_end(5) if isinstance(o, RetryAfter)]
    assert waits == [1.0, 2.0, 5.0, 5.0, 5.0]


@given(st.integers(0, 100))
def test_a_batch_is_retried_exactly_as_often_as_allowed_and_then_given_up(retries):
    outcomes = list(outcomes_until_the_end(retries))
    assert [type(o) for o in outcomes] == [RetryAfter] * retries + [GiveUp]


@given(st.integers(1, 10_000), st.integers(0, 100))
def test_no_failure_beyond_the_limit_is_retried(failures, retries):
    assert isinstance(after_failure(failures, settings(retries)), GiveUp) == (failures > retries)


def test_giving_up_names_the_failures_and_the_limit():
    assert after_failure(1, settings(0)) == GiveUp("1 failures in a row, batchMaxRetries=0")


@pytest.mark.parametrize(
    "error",
    [
        ConfigError("x"),
        CheckpointError("x"),
        PermanentError("x"),
        DataLoss("x"),
        RuntimeError("CheckpointMetadataNotFound: no metadata in s3://b/c"),
    ],
)
def test_errors_that_a_retry_cannot_change_are_final(error):
    assert is_final(error)


@pytest.mark.parametrize(
    "error",
    [TransientError("x"), RuntimeError("x"), ValueError("saw CheckpointMetadataNotFound"), RuntimeError()],
)
def test_other_errors_are_worth_a_retry(error):
    assert not is_final(error)


@pytest.mark.parametrize(
    ("began", "returned", "is_first", "expected"),
    [
        # A suspended driver may have planned it since this driver looked at the checkpoint.
        (("", -1), None, True, True),
        (("query", 6), 6, True, True),
        (("replaced", 7), None, True, True),
        # Spark, started by this driver, has planned it.
        (("query", 6), 6, False, False),
        # Its function failed in this driver, so nobody here was about to commit it.
        (("query", 7), 6, True, False),
        # Its function returned in this driver, and Spark did not commit it.
        (("query", 7), 7, True, True),
        (("query", 7), 7, False, True),
    ],
)
def test_a_batch_may_be_committed_late_unless_this_driver_knows_all_its_attempts(began, returned, is_first, expected):
    assert may_be_committed_late(("query", 7), began, returned, is_first=is_first) is expected
