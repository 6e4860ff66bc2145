"""`awsglue.utils`, as job scripts import it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from awsglue.job_arguments import GlueArgumentError, parse_job_arguments
from gluepot.core.glue_version import PROFILES, current_glue_version

__all__ = ["GlueArgumentError", "getResolvedOptions"]

resolved_arguments: dict[str, str | None] = {}
"""Everything resolved in this process so far; Relationalize takes its default staging path (`TempDir`) from here."""


def getResolvedOptions(
    args: Sequence[str],
    options: Sequence[str],
    allow_abbrev: bool = False,
) -> dict[str, Any]:
    """Return the job's arguments that the script asks for, and those that Glue adds to every job.

    The requested names have a text as value. The others have a text or None, so the type of values is Any.
    `args` is `sys.argv`, script name first. Every name in `options` (no dashes) is required. Unique prefixes are
    accepted with `allow_abbrev`, and always when `GLUEPOT_GLUE_VERSION` is below 6.0.

    Raises:
        GlueArgumentError: an argument is absent, or its value is missing or not allowed.
        RuntimeError: `options` has a reserved name, or the bookmark range does not fit the bookmark option.
        argparse.ArgumentError: `options` has a name twice, or a name that Glue itself adds.
    """
    abbreviated = allow_abbrev or PROFILES[current_glue_version()].accepts_abbreviations
    values = parse_job_arguments(args[1:], options, allow_abbrev=abbreviated)
    resolved_arguments.update(values)
    return values
