"""The Spark settings of the formats. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

JARS, EXTENSIONS, SESSION_CATALOG = "spark.jars", "spark.sql.extensions", "spark.sql.catalog.spark_catalog"

_EXTENSIONS = {
    "delta": "io.delta.sql.DeltaSparkSessionExtension",
    "hudi": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "iceberg": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
}
_DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
# Into how many tasks Delta divides its log. Its default, 50, is for tables of clusters; an append to a small table took
# 2.4 s with it on two cores, and 1.1 s with this.
_DELTA_LOG = ("spark.databricks.delta.snapshotPartitions", "4")


def with_formats(conf: Mapping[str, str], formats: Sequence[str], archives: Sequence[Path]) -> dict[str, str]:
    """Return settings with what formats need beside them: archives, extensions, Delta's catalog, and its tasks locally.

    Glue leaves extensions and catalogs to the script; one that brings its own finds them here as it set them.

    Args:
        conf: the run's configuration, including `--conf`.
        formats: value of `--datalake-formats`.
        archives: archives of those formats.
    """
    if not formats:
        return dict(conf)
    settings = dict(conf)
    settings[JARS] = _joined(conf.get(JARS, ""), map(str, archives))
    settings[EXTENSIONS] = _joined(conf.get(EXTENSIONS, ""), (_EXTENSIONS[name] for name in formats))
    if "delta" in formats:
        settings.setdefault(SESSION_CATALOG, _DELTA_CATALOG)
        if settings.get("spark.master", "").startswith("local"):
            settings.setdefault(*_DELTA_LOG)
    return {name: value for name, value in settings.items() if value}


def _joined(given: str, more: Iterable[str]) -> str:
    listed = [part.strip() for part in given.split(",") if part.strip()]
    return ",".join(dict.fromkeys([*listed, *more]))
