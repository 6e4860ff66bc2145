"""What `gluepot table optimize` makes of its arguments: a job of its own, beside those that write the table. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from gluepot.core.errors import ConfigError

_GLUE_CATALOG = {
    "": "org.apache.iceberg.spark.SparkCatalog",
    ".catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
}
_NAMES_AND_TABLE = 3
# Delta's VACUUM lists the folders of a table in this many tasks, however few they are: with Spark's 10,000 that takes
# 45 s for a table of six files. What --conf gives comes later, so it wins.
_LISTING = "spark.sql.sources.parallelPartitionDiscovery.parallelism=32"

JOB = Path(__file__).with_name("upkeep_job.py")
"""The job's script."""


def job_arguments(table: str, conf: Sequence[str], keep_days: float, orphan_days: float, *, dry_run: bool) -> list[str]:
    """Return the arguments of the job.

    Args:
        table: `catalog.database.table` of Iceberg, or the folder of a Delta table, which has a slash.
        conf: NAME=VALUE for Spark. A catalog that they do not set is the one that Glue's name stands for.
        keep_days: how long what the table was stays readable.
        orphan_days: how old a file must be to count as left behind.
        dry_run: only say what would be done.

    Raises:
        ConfigError: the name is neither, or the time is none that the formats allow.
    """
    kind = "delta" if "/" in table else "iceberg"
    if keep_days < 0:
        raise ConfigError(f"--keep-days is {keep_days:g}; use 0 or more.")
    if orphan_days < 1:
        raise ConfigError(
            f"--orphan-days is {orphan_days:g}; use 1 or more: younger files may be about to be committed."
        )
    defaults = [_LISTING]
    if kind == "iceberg":
        if len(table.split(".")) < _NAMES_AND_TABLE or not table.replace(".", "").replace("_", "").isalnum():
            raise ConfigError(
                f"{table!r} is not a table; give catalog.database.table of Iceberg, or the folder of a Delta table."
            )
        defaults = list(_catalog(table.partition(".")[0], conf))
    given = {
        "JOB_NAME": "optimize",
        "datalake-formats": kind,
        "kind": kind,
        "table": table,
        "keep_days": f"{keep_days:g}",
        "orphan_days": f"{orphan_days:g}",
        "dry_run": str(dry_run).lower(),
    }
    packed = " --conf ".join([*defaults, *conf])
    return ["--conf", packed, *(part for name, value in given.items() for part in (f"--{name}", value))]


def _catalog(name: str, conf: Sequence[str]) -> Iterator[str]:
    key = f"spark.sql.catalog.{name}"
    if not any(one.startswith((f"{key}=", f"{key}.")) for one in conf):
        yield from (f"{key}{suffix}={value}" for suffix, value in _GLUE_CATALOG.items())
