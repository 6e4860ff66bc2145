"""The command line of a job, read by Glue's rules (reference: AWS Glue guide, `getResolvedOptions`)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

BOOKMARK_ENABLE, BOOKMARK_DISABLE, BOOKMARK_PAUSE = (
    "job-bookmark-enable",
    "job-bookmark-disable",
    "job-bookmark-pause",
)
BOOKMARK_OF_CONTINUATION = {
    "continuation-enabled": BOOKMARK_ENABLE,
    "continuation-readonly": BOOKMARK_PAUSE,
    "continuation-ignore": BOOKMARK_DISABLE,
}
"""The bookmark option that each value of the legacy `--continuation-option` stands for."""

ENCRYPTION_TYPES = ("sse-s3",)
RESERVED = ("continuation-option", "job-bookmark-option", "job-bookmark-from", "job-bookmark-to")
TEMP_DIRS = ("TempDir", "RedshiftTempDir")


class GlueArgumentError(Exception):
    """The command line does not fit what the script asked for."""


class _Parser(argparse.ArgumentParser):
    """An argparse parser that raises where argparse would end the process."""

    def error(self, message: str) -> NoReturn:
        raise GlueArgumentError(message)


def parse_job_arguments(argv: Sequence[str], names: Sequence[str], *, allow_abbrev: bool) -> dict[str, str | None]:
    """Return the values of the named arguments and of those that Glue adds to every job.

    Args:
        argv: the command line without the script's name; other arguments are ignored.
        names: required arguments, without dashes.
        allow_abbrev: accept unique prefixes of names.

    Returns:
        Values by argument name with hyphens as underscores. Always there: `job_bookmark_option`, `job_bookmark_from`,
        `job_bookmark_to`, `JOB_ID`, `JOB_RUN_ID`, `SECURITY_CONFIGURATION`, `encryption_type`, `enable_data_lineage`,
        `TempDir`, `RedshiftTempDir`; None where not given.

    Raises:
        GlueArgumentError: a required argument is absent, a value is missing or not among the choices.
        RuntimeError: `names` has a reserved name, or the bookmark range does not fit the bookmark option.
        argparse.ArgumentError: `names` has a name that the parser already has (`JOB_ID`, ..., or the same name twice).
    """
    reserved = [name for name in names if name in RESERVED]
    if reserved:
        raise RuntimeError(f"Using reserved arguments {', '.join(reserved)}")
    parser = _parser(allow_abbrev=allow_abbrev)
    for name in names:
        if name not in TEMP_DIRS:
            parser.add_argument(f"--{name}", required=True)
    values: dict[str, str | None] = vars(parser.parse_known_args(list(argv))[0])
    return _checked_range(_same_temp_dirs(_bookmark_option(values)))


def _parser(*, allow_abbrev: bool) -> _Parser:
    parser = _Parser(allow_abbrev=allow_abbrev, add_help=False)
    parser.add_argument("--job-bookmark-option", choices=[BOOKMARK_ENABLE, BOOKMARK_DISABLE, BOOKMARK_PAUSE])
    parser.add_argument("--continuation-option", choices=list(BOOKMARK_OF_CONTINUATION))
    parser.add_argument("--encryption-type", choices=ENCRYPTION_TYPES)
    for name in (
        "job-bookmark-from",
        "job-bookmark-to",
        "JOB_ID",
        "JOB_RUN_ID",
        "SECURITY_CONFIGURATION",
        "enable-data-lineage",
        *TEMP_DIRS,
    ):
        parser.add_argument(f"--{name}")
    return parser


def _bookmark_option(values: dict[str, str | None]) -> dict[str, str | None]:
    legacy = values.pop("continuation_option")
    if values["job_bookmark_option"] is None:
        values["job_bookmark_option"] = BOOKMARK_OF_CONTINUATION[legacy] if legacy else BOOKMARK_DISABLE
    return values


def _same_temp_dirs(values: dict[str, str | None]) -> dict[str, str | None]:
    temp_dir, redshift_temp_dir = values["TempDir"], values["RedshiftTempDir"]
    return {**values, "TempDir": temp_dir or redshift_temp_dir, "RedshiftTempDir": redshift_temp_dir or temp_dir}


def _checked_range(values: dict[str, str | None]) -> dict[str, str | None]:
    given = {name: bool(values[f"job_bookmark_{name}"]) for name in ("from", "to")}
    if values["job_bookmark_option"] == BOOKMARK_PAUSE:
        if any(given.values()) and not all(given.values()):
            missing = "to" if given["from"] else "from"
            raise RuntimeError(f"Missing option or value for --job-bookmark-{missing}")
    elif all(given.values()):
        raise RuntimeError("Invalid option(s)--job-bookmark-from --job-bookmark-to")
    return values
