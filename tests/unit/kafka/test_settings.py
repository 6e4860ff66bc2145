import pytest

from gluepot.connectors.kafka.settings import Assign, AtOffsets, AtTime, KafkaReadSettings, Pattern, Topics
from gluepot.core import logging
from gluepot.core.errors import ConfigError

BASE = {"bootstrap.servers": "127.0.0.1:9092", "topicName": "clicks"}


def read(**options):
    return KafkaReadSettings.from_options({**BASE, **options})


def test_defaults_are_glues_but_for_data_loss_which_fails():
    settings = read()

    assert settings.starting == "latest"
    assert settings.max_offsets_per_trigger is None
    assert settings.infer_schema is False
    assert settings.fail_on_data_loss is True


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"topicName": "a, b,a"}, Topics(("a", "b"))),
        ({"subscribe": "a"}, Topics(("a",))),
        ({"subscribePattern": "click.*"}, Pattern("click.*")),
        ({"assign": '{"a":[0,1]}'}, Assign(frozenset({("a", 0), ("a", 1)}))),
        ({"assign": {"a": [0]}}, Assign(frozenset({("a", 0)}))),
    ],
)
def test_one_of_four_subscriptions(options, expected):
    settings = KafkaReadSettings.from_options({"bootstrap.servers": "h:1", **options})

    assert settings.subscription == expected


def test_a_pattern_matches_whole_names():
    settings = KafkaReadSettings.from_options({"bootstrap.servers": "h:1", "subscribePattern": "a.c"})

    assert settings.covers("abc", 3)
    assert not settings.covers("abcd", 0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"subscribe": "b"}, "topicName.*both|subscribe.*both"),
        ({"topicName": ""}, "No topic is named"),
        ({"bootstrap.servers": ""}, "connectionName.*bootstrap.servers"),
        ({"maxOffsetsPerTrigger": "many"}, "maxOffsetsPerTrigger is 'many'; use an integer above 0"),
        ({"maxOffsetsPerTrigger": 0}, "maxOffsetsPerTrigger is '0'"),
        ({"failOnDataLoss": "perhaps"}, "failOnDataLoss is 'perhaps'; use true or false"),
        ({"startingOffsets": "begin"}, "startingOffsets is 'begin'; use earliest, latest or a JSON map"),
        ({"startingOffsets": '{"a":{"0":-3}}'}, "-1 for latest, -2 for earliest"),
        ({"startingOffsets": "earliest", "startingTimestamp": "2026-01-01T00:00:00Z"}, "both given"),
        ({"startingTimestamp": "yesterday"}, "startingTimestamp is 'yesterday'; use a time such as"),
        ({"endingOffsets": "earliest"}, "endingOffsets is 'earliest'"),
        ({"delimiter": "||"}, "delimiter is '\\|\\|'; use one character"),
        ({"delimiter": '"'}, "delimiter is"),
        ({"maxTriggerDelay": "soon"}, "maxTriggerDelay is 'soon'"),
        ({"topicName": None, "assign": "[1]"}, "assign is"),
        ({"topicName": None, "subscribePattern": "("}, "not a regular expression"),
    ],
)
def test_a_wrong_value_names_option_value_and_what_is_allowed(options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        read(**options)


@pytest.mark.parametrize(
    ("given", "expected"), [({}, ","), ("|", "|"), ("\t", "\t"), ("\\t", "\t"), ("\\u0001", "\u0001"), (" ", " ")]
)
def test_a_delimiter_is_one_character_plain_or_escaped(given, expected):
    assert read(**({"delimiter": given} if given else {})).delimiter == expected


@pytest.mark.parametrize("spelling", ["true", "True", True, "1"])
def test_flags_are_read_in_every_spelling(spelling):
    assert read(inferSchema=spelling).infer_schema is True


def test_common_names_are_matched_in_any_letter_case():
    assert read(startingoffsets="earliest").starting == "earliest"


def test_offsets_by_partition():
    assert read(startingOffsets='{"clicks":{"0":23,"1":-2}}').starting == AtOffsets(
        {("clicks", 0): 23, ("clicks", 1): -2}
    )


@pytest.mark.parametrize("text", ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "1767225600000"])
def test_timestamps_of_glue_and_of_spark(text):
    assert read(startingTimestamp=text).starting == AtTime(1767225600000)


def test_a_schema_is_ignored_while_the_schema_is_inferred():
    assert read(inferSchema="true", schema="a INT").schema == ""
    assert read(schema="a INT").schema == "a INT"


def test_an_unknown_option_is_ignored_with_the_nearest_known_name(capsys):
    logging.configure(json=True)
    read(startingOffset="earliest")

    assert "startingOffsets" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "secs"), [("15m", 900), ("30s", 30), ("500ms", 0.5), ("2h", 7200)])
def test_trigger_delay_in_sparks_spelling(text, secs):
    assert read(maxTriggerDelay=text).max_trigger_delay_secs == secs


def test_the_representation_shows_no_secret():
    settings = read(**{"kafka.sasl.username": "me", "kafka.sasl.password": "hunter2"})

    assert "hunter2" not in repr(settings)


def test_the_java_clients_api_timeout_is_how_long_a_starting_broker_is_waited_for():
    assert read().api_timeout_secs == 30
    settings = read(**{"kafka.default.api.timeout.ms": "1500"})
    assert settings.api_timeout_secs == 1.5
    assert settings.client.keys() == read().client.keys()


def test_a_wrong_api_timeout_is_refused():
    with pytest.raises(ConfigError, match=r"timeout\.ms is '1 s'; use an integer"):
        read(**{"kafka.default.api.timeout.ms": "1 s"})


def test_a_named_group_is_committed_to_only_when_the_script_asks():
    assert read(**{"kafka.group.id": "shop"}).group == ""
    assert read(**{"kafka.group.id": "shop", "commitGroupOffsets": "true"}).group == "shop"


def test_commits_without_a_group_are_refused():
    with pytest.raises(ConfigError, match=r"no group is named; give kafka\.group\.id"):
        read(commitGroupOffsets="true")
