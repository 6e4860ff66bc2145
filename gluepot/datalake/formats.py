"""The archives of the formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from gluepot.core.errors import ConfigError
from gluepot.servers.jars.fetch import locked_archives

BUNDLED = ("delta", "iceberg")
"""Formats whose archives are locked, each as a set of its own name."""

HUDI = "hudi"


def archives_of(formats: Iterable[str], extra_jars: Sequence[str], jars_dir: Path | None) -> list[Path]:
    """Return the archives that formats need on the class path.

    Args:
        formats: value of `--datalake-formats`.
        extra_jars: value of `--extra-jars`, which must name archives that are not bundled.
        jars_dir: folder that holds the archives; None for our cache.

    Raises:
        ConfigError: an archive is not there or not the locked one.
    """
    wanted = tuple(formats)
    if HUDI in wanted and not any(HUDI in PurePosixPath(jar).name for jar in extra_jars):
        raise ConfigError(
            "--datalake-formats has 'hudi', of which no build for Spark 4.1 is bundled; pass one with --extra-jars, "
            "such as hudi-spark4.1-bundle_2.13.jar."
        )
    return [path for name in BUNDLED if name in wanted for path in locked_archives(name, jars_dir)]
