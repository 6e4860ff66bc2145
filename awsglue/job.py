"""`awsglue.job`, as job scripts import it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession, SQLContext

from awsglue.job_arguments import (
    BOOKMARK_DISABLE,
    BOOKMARK_ENABLE,
    BOOKMARK_OF_CONTINUATION,
    BOOKMARK_PAUSE,
    ENCRYPTION_TYPES,
)
from etlcore.failpoints import reach
from etlcore.logging import get_logger

__all__ = ["Job"]

log = get_logger(__name__)


class Job:
    """The job's life as Glue has it: `init`, work, `commit`.

    Args:
        glue_context: a GlueContext, or a SparkSession as from Glue 5.
    """

    def __init__(self, glue_context: SQLContext | SparkSession) -> None:
        if not isinstance(glue_context, SQLContext | SparkSession):
            raise TypeError(f"Job takes a GlueContext or a SparkSession, not {type(glue_context).__name__}")
        self._name: str | None = None

    def init(self, job_name: str, args: Mapping[str, Any] = {}) -> None:
        """Begin the job.

        Streams keep their progress in their checkpoint. Bookmarks of batch sources are not kept by this version, which
        a job that asks for them is told.
        """
        self._name = job_name
        if (args or {}).get("job_bookmark_option") == "job-bookmark-enable":
            log.warning(
                "bookmarks_not_kept", job=job_name, hint="batch sources are read whole; streams are not affected"
            )

    def isInitialized(self) -> bool:
        """Tell whether `init` was called."""
        return self._name is not None

    def commit(self) -> None:
        """End the job. What streams wrote is committed batch by batch, before this is reached."""
        reach("job.commit_called")
        if self._name is None:
            log.warning("commit_before_init", hint="call job.init(args['JOB_NAME'], args) first")

    @classmethod
    def continuation_options(cls) -> list[str]:
        """Return the values of the legacy option that switched bookmarks."""
        return list(BOOKMARK_OF_CONTINUATION)

    @classmethod
    def job_bookmark_options(cls) -> list[str]:
        """Return the values of `--job-bookmark-option`."""
        return [BOOKMARK_ENABLE, BOOKMARK_DISABLE, BOOKMARK_PAUSE]

    @classmethod
    def job_bookmark_range_options(cls) -> list[str]:
        """Return the names of the arguments that bound a paused bookmark."""
        return ["job-bookmark-from", "job-bookmark-to"]

    @classmethod
    def id_params(cls) -> list[str]:
        """Return the names of the arguments that tell a run."""
        return ["JOB_NAME", "JOB_ID", "JOB_RUN_ID", "SECURITY_CONFIGURATION"]

    @classmethod
    def encryption_type_options(cls) -> list[str]:
        """Return the values of `--encryption-type`."""
        return list(ENCRYPTION_TYPES)

    @classmethod
    def data_lineage_options(cls) -> list[str]:
        """Return the name of the argument that switches lineage."""
        return ["enable-data-lineage"]
