"""Decides what follows a failed micro-batch, by Glue's rule (`forEachBatch` waits 1, 2, then 5 s between tries)."""

from __future__ import annotations

from dataclasses import dataclass

from gluepot.core.errors import CheckpointError, ConfigError, LeaseHeld, PermanentError
from gluepot.streaming.settings import StreamSettings

WAITS_SECS = {1: 1.0, 2: 2.0}
LATER_WAITS_SECS = 5.0

# Glue re-raises this error at once. It has no type of its own in Python, so we recognise it by its text.
CHECKPOINT_METADATA_NOT_FOUND = "CheckpointMetadataNotFound"


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """Run the same batch again, with the same id and offsets, after the wait."""

    wait_secs: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """End the query and raise the failure; `reason` says which limit was reached."""

    reason: str


def after_failure(failures_in_a_row: int, settings: StreamSettings) -> RetryAfter | GiveUp:
    """Decide what follows a number of consecutive failures; the caller counts from 0 again after a good batch.

    Args:
        failures_in_a_row: 1 for the first failure.
        settings: gives the number of retries allowed.
    """
    if failures_in_a_row > settings.batch_max_retries:
        return GiveUp(f"{failures_in_a_row} failures in a row, batchMaxRetries={settings.batch_max_retries}")
    return RetryAfter(WAITS_SECS.get(failures_in_a_row, LATER_WAITS_SECS))


def is_final(error: BaseException) -> bool:
    """Tell whether trying again cannot change the outcome, whatever `batchMaxRetries` says."""
    if isinstance(error, ConfigError | PermanentError | CheckpointError | LeaseHeld):
        return True
    return str(error).startswith(CHECKPOINT_METADATA_NOT_FOUND)


def may_be_committed_late(
    batch: tuple[str, int], began: tuple[str, int], returned: int | None, *, is_first: bool
) -> bool:
    """Tell whether an earlier attempt of a batch may still get into Spark's commit log while the batch runs again.

    Nobody can tell who planned the first batch that Spark runs after its start. A driver that was suspended may have
    woken up after this one looked at the checkpoint, and have planned one more batch.

    Args:
        batch: the id of its query, and its number.
        began: the batch that began last in this driver.
        returned: the number of the last batch whose function returned in this driver; None before the first.
        is_first: whether it is the first batch since Spark started the query.
    """
    return batch[1] == returned or (is_first and batch != began)
