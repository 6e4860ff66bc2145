"""The version of Glue that a script was written for, and its effects (docs/decisions/0012-glue-versions.md)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from gluepot.core.errors import ConfigError

VARIABLE = "GLUEPOT_GLUE_VERSION"
DEFAULT = "6.0"

# Settings that restore Spark 3's behaviour where Spark 4 differs, by Spark's SQL migration guide.
_SPARK_3 = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.legacy.timeParserPolicy": "EXCEPTION",
    "spark.sql.legacy.ctePrecedencePolicy": "EXCEPTION",
    "spark.sql.orc.compression.codec": "snappy",
}
# Spark 3.4 and later read Parquet times without a time zone as TIMESTAMP_NTZ.
_BEFORE_SPARK_3_4 = _SPARK_3 | {"spark.sql.parquet.inferTimestampNTZ.enabled": "false"}


@dataclass(frozen=True, slots=True)
class GlueVersion:
    """The effects of a Glue version on a script.

    Args:
        spark: the version of Spark in this version of Glue. Gluepot's own Spark stays the same.
        accepts_abbreviations: whether `getResolvedOptions` accepts unique prefixes of argument names.
        spark_conf: settings that make our Spark behave like that version; `--conf` and the script override them.
    """

    spark: str
    accepts_abbreviations: bool
    spark_conf: Mapping[str, str] = field(default_factory=dict)


PROFILES = {
    "3.0": GlueVersion("3.1.1", accepts_abbreviations=True, spark_conf=_BEFORE_SPARK_3_4),
    "4.0": GlueVersion("3.3.0", accepts_abbreviations=True, spark_conf=_BEFORE_SPARK_3_4),
    "5.0": GlueVersion("3.5.4", accepts_abbreviations=True, spark_conf=_SPARK_3),
    "5.1": GlueVersion("3.5.6", accepts_abbreviations=True, spark_conf=_SPARK_3),
    "6.0": GlueVersion("4.1.1", accepts_abbreviations=False),
}


def checked_glue_version(version: str) -> str:
    """Return the version; raise ConfigError if we have no profile of it."""
    if version not in PROFILES:
        raise ConfigError(f"Glue version {version!r} is not known; use one of {', '.join(PROFILES)}")
    return version


def current_glue_version(environ: Mapping[str, str] = os.environ) -> str:
    """Return the version that `GLUEPOT_GLUE_VERSION` names, or the newest; raise ConfigError if it is unknown."""
    return checked_glue_version(environ.get(VARIABLE) or DEFAULT)
