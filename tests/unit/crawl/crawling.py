"""Crawls a folder into a catalog of its own."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gluepot.catalog.connect import open_catalog
from gluepot.catalog.store import Catalog
from gluepot.catalog.values import Database, Table
from gluepot.connectors.files.source.grouping import GroupOptions, grouped
from gluepot.connectors.files.source.listing import ListingStats, list_files
from gluepot.connectors.files.source.table_settings import table_read
from gluepot.core.clock import FakeClock
from gluepot.crawl.classify.custom import read_classifier
from gluepot.crawl.run import CrawlReport, crawl
from gluepot.crawl.settings import crawl_settings
from gluepot.frames.rows import rows
from gluepot.frames.transforms import ReadTexts


def a_catalog(tmp_path: Path) -> Catalog:
    """Return a catalog with the database `web`."""
    (tmp_path / "catalog.db").write_bytes(_new_catalog())
    return open_catalog(f"sqlite:///{tmp_path / 'catalog.db'}", FakeClock(1_790_000_000.0))


@cache
def _new_catalog() -> bytes:
    # Making the tables takes longer than a crawl.
    with tempfile.TemporaryDirectory() as folder:
        catalog = open_catalog(f"sqlite:///{folder}/catalog.db", FakeClock(1_790_000_000.0))
        catalog.add_database(Database("web"))
        catalog.close()
        return (Path(folder) / "catalog.db").read_bytes()


def crawl_folder(
    catalog: Catalog,
    *folders: Path | str,
    exclusions: Sequence[str] = (),
    configuration: Mapping[str, Any] | None = None,
    classifiers: Sequence[Mapping[str, Any]] = (),
    sample: int | None = None,
    dry_run: bool = False,
    run_id: str = "run-1",
    tells: bool = False,
    **members: Any,
) -> CrawlReport:
    targets = [
        {"Path": str(one), "Exclusions": list(exclusions), **({"SampleSize": sample} if sample else {})}
        for one in folders
    ]
    given = {
        "Name": "nightly",
        "DatabaseName": "web",
        "Targets": {"S3Targets": targets},
        "Configuration": json.dumps({"Version": 1.0, **(configuration or {})}),
        **members,
    }
    settings = crawl_settings(given, [read_classifier(one) for one in classifiers])
    return crawl(settings, catalog, random.Random(7), run_id, dry_run=dry_run, tells=tells)


def outcomes(report: CrawlReport) -> dict[str, str]:
    return {one.table: one.outcome for one in report.tables}


def columns(table: Table) -> str:
    return ", ".join(f"{one.name} {one.type}" for one in table.storage.columns)


def read_table(catalog: Catalog, table: Table) -> list[dict[str, Any]]:
    """Read a table as a job does, without Spark."""
    partitions = catalog.partitions(table) if table.partition_keys else ()
    read = table_read(table, partitions, {}, "")
    found: list[dict[str, Any]] = []
    for group in grouped(list(list_files(read.settings.listing, ListingStats())), GroupOptions(), 1):
        for chunk in read.settings.source.read(group):
            assert not chunk.errors, chunk.errors
            found += rows(ReadTexts(read.types)(chunk))
    return found
