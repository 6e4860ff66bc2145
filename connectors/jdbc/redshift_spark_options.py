"""Options of the connectors that give Spark a format for Amazon Redshift, in the words of ours. Pure.

AWS Glue ships the first. Its options are those of its open-source project, and names of options have no letter case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.logging import get_logger

FORMATS = ("io.github.spark_redshift_community.spark.redshift", "com.databricks.spark.redshift")
"""The names of the formats, letter case aside."""

MODES = {
    "append": "append",
    "overwrite": "overwrite",
    "error": "error",
    "errorifexists": "error",
    "default": "error",
    "ignore": "ignore",
}
"""What a script calls the modes of a write."""

_BOTH = {
    "url": "url",
    "user": "user",
    "password": "password",
    "dbtable": "dbtable",
    "tempdir": "redshiftTmpDir",
    "aws_iam_role": "aws_iam_role",
    "tempformat": "tempformat",
}
_READ = {"query": "query"}
_WRITE = {"preactions": "preactions", "postactions": "postactions", "extracopyoptions": "extracopyoptions"}
_OWN_FILES = "rows travel as Parquet"
# Without these the same rows arrive.
_CHANGES_NOTHING = {
    "forward_spark_s3_credentials": "without aws_iam_role Redshift gets the credentials of the job",
    "jdbcdriver": "Amazon's own client for Python is used",
    "autopushdown": "Spark filters the rows",
    "autopushdown.s3_result_cache": "each read unloads its rows",
    "autopushdown.lazymode": "Spark filters the rows",
    "unload_s3_format": _OWN_FILES,
    "csvnullstring": _OWN_FILES,
    "csvseparator": _OWN_FILES,
    "csvignoreleadingwhitespace": _OWN_FILES,
    "csvignoretrailingwhitespace": _OWN_FILES,
    "include_column_list": "columns are written by their names",
    "usestagingtable": "a write is one transaction",
    "label": "queries get no label",
}
# Somebody may miss these.
_LACKING = {
    "temporary_aws_access_key_id": "credentials are those of the environment",
    "temporary_aws_secret_access_key": "credentials are those of the environment",
    "temporary_aws_session_token": "credentials are those of the environment",
    "diststyle": "create the table in preactions, with its distribution",
    "distkey": "create the table in preactions, with its distribution",
    "sortkeyspec": "create the table in preactions, with its sort key",
    "description": "set it in postactions, with COMMENT ON TABLE",
}

log = get_logger(__name__)


def is_redshift(name: object) -> bool:
    """Return whether a format is Redshift's."""
    return isinstance(name, str) and name.lower() in FORMATS


def read_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return Glue's `connection_options` for the options of a read.

    Raises:
        ConfigError: an option is not known.
    """
    return _glue_options(options, _BOTH | _READ)


def write_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return Glue's `connection_options` for the options of a write.

    Raises:
        ConfigError: as `read_options`.
    """
    return _glue_options(options, _BOTH | _WRITE)


def _glue_options(options: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    glue: dict[str, Any] = {}
    for option, value in options.items():
        lower = option.lower()
        if lower in names:
            glue[names[lower]] = value
        elif lower in _CHANGES_NOTHING:
            log.info("option_without_effect", option=option, reason=_CHANGES_NOTHING[lower])
        elif lower in _LACKING:
            log.warning("option_without_effect", option=option, reason=_LACKING[lower])
        else:
            known = [*names, *_CHANGES_NOTHING, *_LACKING]
            raise ConfigError(
                f"The option {option!r} of the Redshift format is not known; use {', '.join(names)}."
                f"{did_you_mean(option, known)}"
            )
    return glue
