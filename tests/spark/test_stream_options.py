"""Options of the run in place of those of the script."""

import pytest

from gluepot.streaming.query import session
from gluepot.streaming.query.session import StreamSession


@pytest.fixture
def settings_of(glue_context):
    def settings(stream_options, **of_script):
        session.install(StreamSession(stream_options=stream_options))
        options = {"connectionName": "nowhere", "topicName": "clicks", "classification": "json", **of_script}
        return glue_context.create_data_frame.from_options("kafka", options).source.settings

    yield settings
    session.install(StreamSession())


def test_an_option_of_the_run_wins_over_the_scripts_in_any_letter_case(settings_of):
    elsewhere = {"connectionName": "", "bootstrap.servers": "127.0.0.1:9", "maxOffsetsPerTrigger": "7"}
    settings = settings_of(elsewhere, maxoffsetspertrigger="5000")
    assert (settings.bootstrap, settings.max_offsets_per_trigger) == ("127.0.0.1:9", 7)
    assert settings.topics() == ("clicks",)


def test_an_empty_one_of_any_option_takes_the_scripts_away(settings_of):
    settings = settings_of(
        {"connectionName": "", "bootstrap.servers": "127.0.0.1:9", "maxOffsetsPerTrigger": ""}, maxoffsetspertrigger="7"
    )
    assert settings.max_offsets_per_trigger is None


def test_an_empty_one_takes_the_scripts_away(settings_of):
    one_partition = {"connectionName": "", "bootstrap.servers": "127.0.0.1:9", "topicName": "", "assign": '{"t": [1]}'}
    settings = settings_of(one_partition)
    assert settings.topics() == ("t",)
    assert not settings.covers("t", 0)
