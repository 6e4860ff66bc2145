"""`awsglue.job`, as job scripts import it."""

from __future__ import annotations

import os
import secrets
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
from awsglue.lake_catalogs import use_local_catalogs
from gluepot.bookmarks import jobrun
from gluepot.bookmarks.run_writer import WRITERS
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.streaming.query import session

__all__ = ["Job"]

_OPTIONS = {BOOKMARK_ENABLE: jobrun.ENABLE, BOOKMARK_PAUSE: jobrun.PAUSE}

log = get_logger(__name__)


class Job:
    """A job as in Glue: `init`, then the script's work, then `commit`.

    Args:
        glue_context: a GlueContext, or a SparkSession as from Glue 5.
    """

    def __init__(self, glue_context: SQLContext | SparkSession) -> None:
        if not isinstance(glue_context, SQLContext | SparkSession):
            raise TypeError(f"Job takes a GlueContext or a SparkSession, not {type(glue_context).__name__}")
        self._spark = glue_context if isinstance(glue_context, SparkSession) else glue_context.sparkSession
        self._name: str | None = None

    def init(self, job_name: str, args: Mapping[str, Any] = {}) -> None:
        """Begin the job; if bookmarks are enabled or paused, read their current state (docs/glue 4).

        Streams keep their progress in their checkpoints, independently of bookmarks.

        Raises:
            LeaseHeld: the job has bookmarks and is already running.
            ConfigError: a run of `--job-bookmark-from` or `-to` is unknown.
        """
        limits = [str(args[name]) for name in ("job_bookmark_from", "job_bookmark_to") if args.get(name)]
        jobrun.begin(
            name=job_name,
            run_id=str(args.get("JOB_RUN_ID") or f"jr_{secrets.token_hex(32)}"),
            temp_dir=args.get("TempDir") or None,
            option=_OPTIONS.get(str(args.get("job_bookmark_option"))),
            limits=limits,
            environ=dict(os.environ),
            clock=session.current().clock,
        )
        self._name = job_name
        use_local_catalogs(self._spark)

    def isInitialized(self) -> bool:
        """Tell whether `init` was called."""
        return self._name is not None

    def commit(self) -> None:
        """End the job and save its bookmarks. Streams do not need this: they commit their writes batch by batch.

        Raises:
            VersionMismatch: another run or a reset changed the job's bookmarks meanwhile; nothing is saved.
        """
        reach("job.commit_called")
        if self._name is None:
            log.warning("commit_before_init", hint="call job.init(args['JOB_NAME'], args) first")
        WRITERS.finish(is_strict=session.current().is_strict)
        jobrun.commit()

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
        """Return the names of the arguments that identify a run."""
        return ["JOB_NAME", "JOB_ID", "JOB_RUN_ID", "SECURITY_CONFIGURATION"]

    @classmethod
    def encryption_type_options(cls) -> list[str]:
        """Return the values of `--encryption-type`."""
        return list(ENCRYPTION_TYPES)

    @classmethod
    def data_lineage_options(cls) -> list[str]:
        """Return the name of the argument that switches lineage."""
        return ["enable-data-lineage"]
