"""Options of Spark's connectors for Kinesis, and the columns that their readers expect."""

from base64 import b64encode

import pytest

from gluepot.connectors.kinesis.blocks import to_arrow
from gluepot.connectors.kinesis.positions import position
from gluepot.connectors.kinesis.reader import _raw_batches
from gluepot.connectors.kinesis.settings import FanOut, FromHorizon, FromLatest, FromTime
from gluepot.connectors.kinesis.source import KinesisSource
from gluepot.connectors.kinesis.spark_options import settings_of_spark
from gluepot.connectors.values import SourceRange
from gluepot.core.errors import ConfigError
from tests.unit.kinesis.packed import aggregate

NAMED = {"streamName": "clicks", "region": "eu-west-1"}


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ({}, FromLatest()),
        ({"startingposition": "TRIM_HORIZON"}, FromHorizon()),
        ({"startingPosition": "earliest"}, FromHorizon()),
        ({"initialPosition": "trim_horizon"}, FromHorizon()),
        ({"kinesis.startingposition": "AT_TIMESTAMP 2026-01-31T12:00:00Z"}, FromTime(1769860800000)),
    ],
)
def test_starts_are_named_in_several_ways(options, start):
    assert settings_of_spark({**NAMED, **options}).starting == start


def test_names_have_a_prefix_or_none_and_the_frame_has_the_connectors_columns():
    given = {
        "kinesis.streamName": "clicks",
        "kinesis.region": "eu-west-1",
        "kinesis.endpointUrl": "http://127.0.0.1:9/",
        "kinesis.consumerType": "SubscribeToShard",
        "kinesis.consumerName": "job",
        "awsAccessKeyId": "AKIA",
        "awsSecretKey": "secret",
        "classification": "json",
        "inferSchema": "true",
    }
    settings = settings_of_spark(given)
    assert (settings.address.name, settings.address.region) == ("clicks", "eu-west-1")
    assert settings.address.endpoint == "http://127.0.0.1:9"
    assert settings.fan_out == FanOut(name="job")
    shape = KinesisSource(settings).shape
    assert [shape.payload.name, *shape.added.names] == [
        "data",
        "streamName",
        "partitionKey",
        "sequenceNumber",
        "approximateArrivalTimestamp",
    ]
    assert str(shape.payload.type) == "binary"


@pytest.mark.parametrize("options", [{}, {"consumerType": "GetRecords", "kinesis.consumerName": "job"}])
def test_records_are_polled_unless_the_consumer_type_says_otherwise(options):
    assert settings_of_spark({**NAMED, **options}).fan_out is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kinesis.consumerType": "SubscribeToShard"}, "consumerName is not set"),
        ({"kinesis.consumerType": "efo"}, "use GetRecords or SubscribeToShard"),
    ],
)
def test_a_consumer_type_without_a_meaning_is_refused(options, said):
    with pytest.raises(ConfigError, match=said):
        settings_of_spark({**NAMED, **options})


def test_a_stream_without_a_name_is_refused():
    with pytest.raises(ConfigError, match="No Kinesis stream is given"):
        settings_of_spark({"region": "eu-west-1"})


def test_each_record_has_its_own_key_also_within_an_aggregate():
    packed = aggregate([("bob", b"2"), ("eve", b"3")])
    records = [
        {
            "SequenceNumber": number,
            "PartitionKey": key,
            "Data": b64encode(data).decode(),
            "ApproximateArrivalTimestamp": arrived,
        }
        for number, key, data, arrived in (("7", "ann", b"1", 1.5), ("9", "all", packed, 2.5))
    ]
    block, _ = to_arrow(records)
    wanted = SourceRange("kinesis", "clicks", "1", "shard", position(7), position(9, 2))
    [raw] = _raw_batches(block, settings_of_spark(NAMED), wanted)
    assert raw.values == [b"1", b"2", b"3"]
    assert raw.columns["partitionKey"].to_pylist() == ["ann", "bob", "eve"]
    assert raw.columns["sequenceNumber"].to_pylist() == ["7", "9", "9"]
    assert raw.columns["streamName"].to_pylist() == ["clicks"] * 3
    assert [at.timestamp() for at in raw.columns["approximateArrivalTimestamp"].to_pylist()] == [1.5, 2.5, 2.5]
    [plain] = _raw_batches(block.slice(0, 1), settings_of_spark(NAMED), wanted)
    assert plain.columns["partitionKey"].to_pylist() == ["ann"]
