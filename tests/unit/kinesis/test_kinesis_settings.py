"""Options of a Kinesis read: both spellings, and errors that name what is wrong."""

import pytest

from gluepot.connectors.kinesis.settings import OLDER_NAMES, FromHorizon, FromLatest, FromTime, KinesisReadSettings
from gluepot.connectors.options import ScriptOptions
from gluepot.core.errors import ConfigError

ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/clicks"


def read(**options):
    return KinesisReadSettings.from_options({"streamARN": ARN} | options)


def test_an_arn_names_stream_and_region():
    address = read().address

    assert (address.name, address.region) == ("clicks", "eu-west-1")
    assert address.parameters() == {"StreamARN": ARN}


def test_a_name_goes_with_an_endpoint_whose_host_tells_the_region():
    options = {"streamName": "clicks", "endpointUrl": "https://kinesis.ap-south-1.amazonaws.com/"}
    address = KinesisReadSettings.from_options(options).address

    assert (address.region, address.endpoint) == ("ap-south-1", "https://kinesis.ap-south-1.amazonaws.com")
    assert address.parameters() == {"StreamName": "clicks"}


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", FromLatest()),
        ("LATEST", FromLatest()),
        ("TRIM_HORIZON", FromHorizon()),
        ("trim_horizon", FromHorizon()),
        ("Earliest", FromHorizon()),
        ("2026-01-31T12:00:00Z", FromTime(1769860800000)),
        ("2026-01-31T13:00:00+01:00", FromTime(1769860800000)),
    ],
)
def test_a_starting_position_is_a_word_in_any_case_or_a_time(text, start):
    assert read(startingPosition=text).starting == start
    assert read(startingposition=text).starting == start


VALUES = {
    "maxFetchTimeInMs": ("250", "fill_secs", 0.25),
    "maxFetchRecordsPerShard": ("7", "max_records_per_shard", 7),
    "maxRecordPerRead": ("9", "max_records_per_read", 9),
    "describeShardInterval": ("2s", "describe_interval_secs", 2.0),
    "numRetries": ("4", "retries", 4),
    "retryIntervalMs": ("50", "retry_base_secs", 0.05),
    "maxRetryIntervalMs": ("900", "retry_cap_secs", 0.9),
}


@pytest.mark.parametrize("name", VALUES)
def test_both_spellings_mean_the_same_and_the_plain_one_wins(name):
    text, field, value = VALUES[name]

    assert getattr(read(**{name: text}), field) == value
    assert getattr(read(**{OLDER_NAMES[name]: text}), field) == value
    assert getattr(read(**{name: text, OLDER_NAMES[name]: "8"}), field) == value


def test_idle_time_counts_only_with_its_switch():
    assert read(idleTimeBetweenReadsInMs="3000").idle_secs == 0
    assert read(idleTimeBetweenReadsInMs="3000", addIdleTimeBetweenReads="True").idle_secs == 3
    assert read(addIdleTimeBetweenReads="true").idle_secs == 1


def test_a_role_to_take_on_has_a_session_name():
    role = read(awsSTSRoleARN="arn:aws:iam::1:role/r", awsSTSSessionName="night").address.role

    assert (role.arn, role.session_name) == ("arn:aws:iam::1:role/r", "night")


def test_loss_fails_unless_the_script_accepts_it():
    assert read().fail_on_data_loss
    assert not read(failondataloss="false").fail_on_data_loss


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"streamARN": ""}, "No Kinesis stream is given"),
        ({"streamARN": "arn:aws:sqs:eu-west-1:1:clicks"}, "whole ARN"),
        ({"streamName": "orders"}, "give one of them"),
        ({"endpointUrl": "127.0.0.1:4566"}, "endpointUrl is '127.0.0.1:4566'"),
        ({"startingPosition": "yesterday"}, "startingPosition is 'yesterday'"),
        ({"maxRecordPerRead": "10001"}, "maximum of Kinesis is 10000"),
        ({"awsSTSRoleARN": "arn:aws:iam::1:role/r", "awsSTSSessionName": "x"}, "2 to 64 characters"),
        ({"describeShardInterval": "soon"}, "describeShardInterval is 'soon'"),
        ({"maxFetchTimeInMs": "-1"}, "maxFetchTimeInMs is '-1'"),
    ],
)
def test_a_wrong_option_is_named_with_its_value(options, words):
    with pytest.raises(ConfigError, match=words):
        read(**options)


def test_a_dict_value_is_read_as_its_json():
    assert ScriptOptions({"a": {"b": 1}}).text("A") == '{"b": 1}'
