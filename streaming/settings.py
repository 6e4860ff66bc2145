"""The settings of `forEachBatch`, checked once. Only this module knows Glue's spelling of the options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.logging import get_logger
from gluepot.core.option_values import is_true, truth
from gluepot.streaming.interval import parse_interval

# The constants of `pyspark.StorageLevel`.
StorageLevelName = Literal[
    "NONE",
    "DISK_ONLY",
    "DISK_ONLY_2",
    "DISK_ONLY_3",
    "MEMORY_ONLY",
    "MEMORY_ONLY_2",
    "MEMORY_AND_DISK",
    "MEMORY_AND_DISK_2",
    "OFF_HEAP",
    "MEMORY_AND_DISK_DESER",
]

# What happens when the retries of a batch are used up: end the job as Glue does, or set guilty records aside.
OnBatchFailure = Literal["fail", "quarantine"]

GLUE_OPTIONS = (
    "windowSize",
    "checkpointLocation",
    "batchMaxRetries",
    "persistDataFrame",
    "storageLevel",
    "rejectsPath",  # not Glue's: folder for rejected records, instead of `<table>/_rejects`
    "allowOverlap",  # not Glue's: write even if the table contains records of the batch, or the query skips some
    "onBatchFailure",  # not Glue's: fail, or quarantine
    "quarantineLimit",  # not Glue's: the most dead letters of one batch
    "smallBatchRecords",  # not Glue's: batches up to this size need no Spark job
)

MAX_RETRIES = 100
SMALL_BATCH_RECORDS = 10_000
GENERIC_FOLDERS = frozenset({"checkpoint", "checkpoints"})

_log = get_logger(__name__)


class RetryCountError(ConfigError, ValueError):
    """`batchMaxRetries` is out of range. It is also a ValueError, because Glue raises that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings:
    """The settings of one query of a job.

    Args:
        window_size_secs: time between two batch starts; 0 starts the next batch at once.
        checkpoint_location: folder or URI that holds the query's progress.
        batch_max_retries: retries of one batch, in a row.
        persist: keep the batch's rows while the batch function runs.
        storage_level: where persisted rows are kept.
        rejects_path: folder of rejected records; None: beside the table.
        allow_overlap: accept records that are twice in a table, or left out, because the checkpoint is new.
        on_batch_failure: what follows when retries are used up.
        quarantine_limit: most records of one batch that become dead letters.
        small_batch_records: batches up to so many records run on the driver; 0: none.
    """

    window_size_secs: float
    checkpoint_location: str
    batch_max_retries: int = 3
    persist: bool = True
    storage_level: StorageLevelName = "MEMORY_AND_DISK"
    rejects_path: str | None = None
    allow_overlap: bool = False
    on_batch_failure: OnBatchFailure = "fail"
    quarantine_limit: int = 1000
    small_batch_records: int = SMALL_BATCH_RECORDS

    @property
    def query_name(self) -> str:
        """The name of the query in logs and metrics: the last folder of its checkpoint that is not a generic name.

        In generated scripts, all checkpoint locations end in `/checkpoint/`, below the job's name.
        """
        folders = [folder for folder in self.checkpoint_location.split("/") if folder]
        return next((folder for folder in reversed(folders) if folder.lower() not in GENERIC_FOLDERS), "query")

    @classmethod
    def from_glue(cls, options: Mapping[str, Any]) -> StreamSettings:
        """Read the options of `GlueContext.forEachBatch`; unknown ones are ignored with a warning.

        The texts and the order of the first errors are those of Glue: `windowSize`, `checkpointLocation`, retries.

        Raises:
            ConfigError: an option is missing or has a wrong value (`RetryCountError`, a ValueError, for retries).
        """
        for name, hint in unknown_options(options):
            _log.warning("option_ignored", option=name, hint=hint)
        for required in ("windowSize", "checkpointLocation"):
            if options.get(required) is None:
                raise ConfigError(f"Missing {required} argument")
        return cls(
            window_size_secs=parse_interval(options["windowSize"]),
            checkpoint_location=_checkpoint_location(options["checkpointLocation"]),
            batch_max_retries=_retries(options.get("batchMaxRetries", 3)),
            persist=truth(options.get("persistDataFrame")) is not False,
            storage_level=_storage_level(options.get("storageLevel", "MEMORY_AND_DISK")),
            rejects_path=_optional_text(options.get("rejectsPath")),
            allow_overlap=is_true(options.get("allowOverlap")),
            on_batch_failure=_on_batch_failure(options.get("onBatchFailure", "fail")),
            quarantine_limit=_limit(options.get("quarantineLimit", 1000)),
            small_batch_records=_small(options.get("smallBatchRecords", SMALL_BATCH_RECORDS)),
        )


def unknown_options(options: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names that `forEachBatch` does not know, each with a hint: the nearest known name, or all of them."""
    return [
        (name, did_you_mean(name, GLUE_OPTIONS).strip() or f"Known options: {', '.join(GLUE_OPTIONS)}.")
        for name in options
        if name not in GLUE_OPTIONS
    ]


def _checkpoint_location(value: object) -> str:
    location = str(value)
    if not location.strip():
        raise ConfigError("checkpointLocation is empty; give a folder or URI that only this query writes to")
    return location


def _retries(value: object) -> int:
    try:
        retries = int(cast("str", value))
    except (TypeError, ValueError):
        retries = -1
    if not 0 <= retries <= MAX_RETRIES:
        raise RetryCountError(
            f"Please specify the number of retries as an integer in the range of [0, {MAX_RETRIES}].",
        )
    return retries


def _storage_level(value: object) -> StorageLevelName:
    name = str(value).upper()
    known = get_args(StorageLevelName)
    if name not in known:
        raise ConfigError(
            f"storageLevel is {value!r}; use one of {', '.join(known)}.{did_you_mean(name, known)}",
        )
    return cast("StorageLevelName", name)


def _on_batch_failure(value: object) -> OnBatchFailure:
    name = str(value).lower()
    known = get_args(OnBatchFailure)
    if name not in known:
        raise ConfigError(f"onBatchFailure is {value!r}; use {' or '.join(known)}.{did_you_mean(name, known)}")
    return cast("OnBatchFailure", name)


def _limit(value: object) -> int:
    text = str(value).strip()
    if not text.isdecimal() or not int(text):
        raise ConfigError(f"quarantineLimit is {value!r}; give a number of records above 0, such as 1000")
    return int(text)


def _small(value: object) -> int:
    text = str(value).strip()
    if not text.isdecimal():
        raise ConfigError(f"smallBatchRecords is {value!r}; give a number of records, or 0 for a Spark job each time")
    return int(text)


def _optional_text(value: object) -> str | None:
    return None if value is None else str(value)
