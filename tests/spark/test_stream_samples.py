"""A look at some records of a stream, and data frames of what is not a stream."""

from __future__ import annotations

import pytest

from awsglue import DynamicFrame


def test_a_sample_holds_the_first_records_and_the_function_gets_the_batches(numbers):
    seen = []
    options = {"windowSize": "1 second", "pollingTimeInMs": 60_000, "recordPollingLimit": 12}

    frame = numbers.glue_context.getSampleStreamingDynamicFrame(
        numbers.frame(), options, lambda batch, number: seen.append((number, batch.count()))
    )

    assert isinstance(frame, DynamicFrame)
    values = {row["value"] for row in frame.toDF().collect()}
    assert len(values) == 12
    assert values > set(range(10))
    assert seen == [(0, 10), (1, 10)]


def test_an_error_of_the_function_ends_the_sample(numbers):
    def refuse(batch, number):
        raise KeyError("price")

    with pytest.raises(KeyError, match="price"):
        numbers.glue_context.getSampleStreamingDynamicFrame(numbers.frame(), {"windowSize": "1 second"}, refuse)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "Missing windowSize argument"),
        ({"windowSize": "soon"}, "Received invalid window size"),
        ({"windowSize": "1 minute"}, "Polling time needs to be larger than window size"),
    ],
)
def test_wrong_options_are_refused_with_the_words_of_glue(numbers, options, text):
    with pytest.raises(ValueError, match=text):
        numbers.glue_context.getSampleStreamingDynamicFrame(numbers.frame(), options)


def test_files_become_a_data_frame_too(glue_context, tmp_path):
    (tmp_path / "a.json").write_text('{"n": 1}\n{"n": 2}\n')

    frame = glue_context.create_data_frame.from_options("s3", {"paths": [str(tmp_path)]}, "json")

    assert sorted(row["n"] for row in frame.collect()) == [1, 2]


def test_a_stream_of_sparks_own_source_ends_when_a_drain_has_read_what_was_there(numbers, tmp_path):
    from gluepot.streaming.query import session
    from gluepot.streaming.query.session import Drain, StreamSession

    (tmp_path / "in").mkdir()
    for n in range(3):
        (tmp_path / "in" / f"{n}.csv").write_text(f"{n}\n")
    reader = numbers.glue_context.spark_session.readStream.schema("n int").option("maxFilesPerTrigger", 1)
    seen = []
    session.install(StreamSession(drain=Drain(until_caught_up=True)))

    numbers.for_each_batch(lambda frame, number: seen.append(frame.count()), reader.csv(str(tmp_path / "in")))

    assert seen == [1, 1, 1]
