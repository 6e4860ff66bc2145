"""Chooses the folder into which Java unpacks libraries, such as Spark's codecs.

It is /tmp by default, and Docker mounts a `--tmpfs /tmp` so that nothing in it may execute. Spark's snappy and zstd
then fail with UnsatisfiedLinkError.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from gluepot.core.logging import get_logger
from gluepot.core.statedir import state_root

OPTION = "-Djava.io.tmpdir"
_DEFAULT = Path("/tmp")  # noqa: S108  Java's own default, whatever TMPDIR says

log = get_logger(__name__)


def with_folder(options: str, environ: Mapping[str, str], default: Path = _DEFAULT) -> str:
    """Return a JVM's options, with another temporary folder if nothing may execute in the default.

    Args:
        options: they may choose a folder themselves.
        environ: names folders of Spark and Gluepot.
        default: Java's folder.
    """
    if OPTION in options or may_execute(default):
        return options
    spark = [Path(one) for one in environ.get("SPARK_LOCAL_DIRS", "").split(",") if one]
    for folder in (one / "java" for one in [*spark, state_root(environ)]):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if may_execute(folder):
                log.info("java_folder", folder=str(folder), reason=f"nothing in {default} may execute")
                return f"{options} {OPTION}={shlex.quote(str(folder))}".strip()
    log.warning("java_folder", folder=str(default), hint="mount it with exec, or Spark's snappy and zstd fail")
    return options


def may_execute(folder: Path) -> bool:
    """Return whether files in a folder may be executed, or loaded as libraries; a folder that is not there may not."""
    try:
        return not os.statvfs(folder).f_flag & os.ST_NOEXEC
    except OSError:
        return False
