from dataclasses import FrozenInstanceError

import pytest
from pyspark import StorageLevel
from structlog.testing import capture_logs

from gluepot.core.errors import ConfigError
from gluepot.streaming.settings import StorageLevelName, StreamSettings, unknown_options

REQUIRED = {"windowSize": "100 seconds", "checkpointLocation": "/tmp/checkpoint"}


def test_defaults_are_glues():
    assert StreamSettings.from_glue(REQUIRED) == StreamSettings(
        window_size_secs=100.0,
        checkpoint_location="/tmp/checkpoint",
        batch_max_retries=3,
        persist=True,
        storage_level="MEMORY_AND_DISK",
        rejects_path=None,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Missing windowSize argument"),
        ({"checkpointLocation": "/tmp/c"}, "Missing windowSize argument"),
        ({"windowSize": "1 minute"}, "Missing checkpointLocation argument"),
        ({"windowSize": "1 minute", "batchMaxRetries": 101}, "Missing checkpointLocation argument"),
    ],
)
def test_a_missing_option_is_reported_in_glues_words_and_order(options, message):
    with pytest.raises(ConfigError) as missing:
        StreamSettings.from_glue(options)
    assert str(missing.value) == message


@pytest.mark.parametrize("retries", [-1, 101, "101", "many", None, ""])
def test_retries_out_of_range_are_glues_value_error(retries):
    with pytest.raises(ValueError) as refused:
        StreamSettings.from_glue({**REQUIRED, "batchMaxRetries": retries})
    assert str(refused.value) == "Please specify the number of retries as an integer in the range of [0, 100]."
    assert isinstance(refused.value, ConfigError)


@pytest.mark.parametrize(("given", "retries"), [(0, 0), ("100", 100), (" 5 ", 5), (2.9, 2)])
def test_retries_are_read_as_python_reads_an_int(given, retries):
    assert StreamSettings.from_glue({**REQUIRED, "batchMaxRetries": given}).batch_max_retries == retries


@pytest.mark.parametrize(
    ("given", "persist"),
    [("true", True), ("false", False), ("False", False), (True, True), (False, False), ("anything", True)],
)
def test_only_false_as_text_or_bool_turns_persistence_off(given, persist):
    assert StreamSettings.from_glue({**REQUIRED, "persistDataFrame": given}).persist is persist


def test_storage_level_is_a_constant_of_sparks_in_any_letter_case():
    assert StreamSettings.from_glue({**REQUIRED, "storageLevel": "disk_only_2"}).storage_level == "DISK_ONLY_2"


def test_unknown_storage_level_is_refused_with_the_nearest_name():
    with pytest.raises(ConfigError, match=r"storageLevel is 'memory_and_disc'.*Did you mean 'MEMORY_AND_DISK'\?"):
        StreamSettings.from_glue({**REQUIRED, "storageLevel": "memory_and_disc"})


def test_every_storage_level_of_pyspark_is_known():
    assert set(StorageLevelName.__args__) == {name for name in vars(StorageLevel) if name.isupper()}


def test_empty_checkpoint_location_is_refused():
    with pytest.raises(ConfigError, match="checkpointLocation is empty"):
        StreamSettings.from_glue({**REQUIRED, "checkpointLocation": " "})


def test_unknown_options_are_ignored_with_the_nearest_name_in_a_warning():
    with capture_logs() as lines:
        settings = StreamSettings.from_glue({**REQUIRED, "batchMaxRetry": "9"})
    assert settings.batch_max_retries == 3
    assert [(line["log_level"], line["option"], line["hint"]) for line in lines] == [
        ("warning", "batchMaxRetry", "Did you mean 'batchMaxRetries'?"),
    ]


def test_an_option_near_nothing_is_answered_with_all_that_is_known():
    [(name, hint)] = unknown_options({"zzz": 1})
    assert name == "zzz"
    assert hint.startswith("Known options: windowSize, checkpointLocation")


def test_settings_cannot_be_changed_after_the_check():
    settings = StreamSettings.from_glue(REQUIRED)
    with pytest.raises(FrozenInstanceError):
        settings.batch_max_retries = 7
