"""What Redshift needs beside the address of a database: a folder in S3, a role that reads it, options of COPY."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger

REDSHIFT = "redshift"

_FORMATS = ("avro", "csv", "csv gzip", "parquet")
# What COPY accepts for Parquet and what does not change which rows are loaded.
_PASSED_ON = re.compile(r"ACCEPTINVCHARS(?:\s+AS)?(?:\s+'[^'\\]')?|STATUPDATE(?:\s+(?:ON|OFF|TRUE|FALSE))?")
_TRUNCATES = "TRUNCATECOLUMNS"
# Options that say how to parse texts, or how to compress a table that is loaded directly. We load Parquet into a table
# of our own, so they have nothing to act on.
_WITHOUT_EFFECT = re.compile(
    r"(?:DATEFORMAT|TIMEFORMAT|NULL|DELIMITER|ENCODING|QUOTE)(?:\s+AS)?\s+'(?:[^'\\]|\\.)*'|COMPUPDATE(?:\s+(?:ON|OFF|PRESET"
    r"|TRUE|FALSE))?|COMPROWS\s+\d+|BLANKSASNULL|EMPTYASNULL|TRIMBLANKS|REMOVEQUOTES|ESCAPE|IGNOREBLANKLINES|GZIP|ROUNDEC"
)
_WORDS = re.compile(r"[A-Z_]+")

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RedshiftOptions:
    """How rows get into Redshift and out of it.

    Args:
        temp_dir: URL of the folder in S3 for staged and unloaded files.
        iam_role: ARN of the role with which Redshift reads and writes there, or `default`; empty to give Redshift the
            AWS credentials of the job.
        copy_options: further options of COPY.
        truncates: whether texts that are too long for their column are cut instead of refused.
    """

    temp_dir: str
    iam_role: str = ""
    copy_options: str = ""
    truncates: bool = False

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> RedshiftOptions:
        """Read `redshiftTmpDir`, `aws_iam_role`, `extracopyoptions` and `tempformat` (docs/glue 5.7).

        Raises:
            ConfigError: there is no folder in S3, or an option is wrong.
        """
        chosen = str(options.get("tempformat") or "parquet")
        if chosen.lower() not in _FORMATS:
            raise ConfigError(f"tempformat is {chosen!r}; use one of {', '.join(_FORMATS).upper()}.")
        copy_options, truncates = read_copy_options(str(options.get("extracopyoptions") or ""))
        return cls(_temp_dir(options), _role(options), copy_options, truncates)


def _temp_dir(options: Mapping[str, Any]) -> str:
    given = str(options.get("redshiftTmpDir") or options.get("tempdir") or "").strip()
    if not given:
        raise ConfigError(
            "Redshift has no redshiftTmpDir; give redshift_tmp_dir='s3://bucket/folder', that option, or --TempDir."
        )
    if not re.fullmatch(r"s3[an]?://[^/'\\\s]+(/[^'\\]*)?", given):
        raise ConfigError(
            f"redshiftTmpDir is {given!r}; Redshift reads S3 only, so use s3://bucket/folder without quotes or"
            " backslashes."
        )
    return re.sub(r"^s3[an]?:", "s3:", given).rstrip("/")


def _role(options: Mapping[str, Any]) -> str:
    given = str(options.get("aws_iam_role") or "").strip()
    if given and given != "default" and not re.fullmatch(r"arn:[\w:/+=,.@-]+", given):
        raise ConfigError(f"aws_iam_role is {given!r}; use an ARN such as arn:aws:iam::123456789012:role/copy.")
    return given


def read_copy_options(given: str) -> tuple[str, bool]:
    """Return the options of COPY that are passed on, and whether too long texts are cut.

    Raises:
        ConfigError: an option would lose rows, or is not known.
    """
    rest = " ".join(given.split())
    passed_on: list[str] = []
    truncates = False
    while rest:
        upper = rest.upper()
        if found := _PASSED_ON.match(upper):
            passed_on.append(rest[: found.end()])
        elif found := _WITHOUT_EFFECT.match(upper):
            log.info(
                "option_without_effect", option=f"extracopyoptions {rest[: found.end()]}", reason="we load Parquet"
            )
        elif upper.startswith(_TRUNCATES):
            truncates = True
            rest = rest[len(_TRUNCATES) :].strip()
            continue
        else:
            word = (_WORDS.match(upper) or [rest])[0]
            raise ConfigError(
                f"extracopyoptions has {word}, which does not fit a load that must keep every row; omit it"
                " (TRUNCATECOLUMNS, ACCEPTINVCHARS and STATUPDATE are possible)."
            )
        rest = rest[found.end() :].strip()
    return " ".join(passed_on), truncates
