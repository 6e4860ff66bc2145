import traceback

from gluepot.core.errors import ConfigError, DataLoss, EtlError
from gluepot.core.task_errors import is_ours, marked


def failing(error):
    yield 1
    raise error


def as_text_of_a_worker(error):
    """What the driver gets: an error of another class with the traceback as its text."""
    try:
        list(marked(failing(error)))
    except (EtlError, KeyError):
        return RuntimeError(f"Job aborted: {traceback.format_exc()}")


def test_an_error_of_ours_is_known_by_the_text_that_comes_out_of_a_worker():
    assert is_ours(as_text_of_a_worker(DataLoss("offsets 1 to 3 are gone")))


def test_an_error_of_the_users_is_not_ours():
    assert not is_ours(as_text_of_a_worker(KeyError("price")))


def test_an_error_that_was_raised_because_of_ours_counts_as_ours():
    wrapper = RuntimeError("writing failed")
    wrapper.__cause__ = ConfigError("no such bucket")
    assert is_ours(wrapper)


def test_items_pass_unchanged():
    assert list(marked([1, 2])) == [1, 2]
