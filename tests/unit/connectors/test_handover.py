import pytest

from connectors.handover import Handover
from etlcore.errors import CheckpointError, ConfigError, DataLoss, TransientError


@pytest.fixture
def handover():
    return Handover.create()


def test_the_checkpoint_is_unknown_until_the_query_begins(handover):
    assert handover.checkpoint() is None
    handover.begin("/ck")
    assert handover.checkpoint() == "/ck"


def test_a_stop_lasts_until_the_next_attempt(handover):
    handover.begin("/ck")
    assert not handover.stop_asked()
    handover.ask_stop()
    assert handover.stop_asked()
    handover.begin("/ck")
    assert not handover.stop_asked()


@pytest.mark.parametrize("kind", [DataLoss, ConfigError, TransientError, CheckpointError])
def test_an_error_comes_back_as_it_was_raised(handover, kind):
    handover.report(kind("one sentence."))

    again = handover.reported()

    assert type(again) is kind
    assert str(again) == "one sentence."


def test_an_error_of_an_earlier_attempt_is_forgotten(handover):
    handover.report(DataLoss("gone"))
    handover.begin("/ck")
    assert handover.reported() is None
