"""Folders as other software leaves them, and the tables that a crawl makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gluepot.catalog.store import Catalog
from gluepot.catalog.values import Table
from gluepot.crawl.run import CrawlReport
from tests.unit.crawl.crawling import a_catalog, columns, crawl_folder, read_table
from tests.unit.crawl.layouts import LAYOUTS, Layout


def configuration(layout: Layout, lake: Path) -> dict:
    given = dict(layout.configuration)
    if given.get("Grouping", {}).get("TableLevelConfiguration") == "below":
        given["Grouping"] = {"TableLevelConfiguration": len(lake.parts)}
    return given


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_layout_becomes_the_expected_tables_which_jobs_read_and_another_crawl_leaves_alone(layout, tmp_path):
    lake = tmp_path / "lake"
    layout.build(lake)
    catalog = a_catalog(tmp_path)

    report = crawl(layout, catalog, lake, "run-1")

    tables = {table.name: table for table in catalog.tables("web")}
    assert sorted(tables) == sorted(layout.tables)
    for name, expected in layout.tables.items():
        assert described(catalog, tables[name]) == (
            expected.format,
            expected.columns,
            expected.keys,
            expected.partitions,
        )
        assert expected.parameters.items() <= tables[name].parameters.items()
    assert len(report.left_out) == layout.left_out

    for table in tables.values() if layout.reads else ():
        records = read_table(catalog, table)
        names = {one.name for one in (*table.storage.columns, *table.partition_keys)}
        assert records
        assert all({name.lower() for name in one} <= names for one in records)

    again = crawl(layout, catalog, lake, "run-2")
    assert {one.outcome for one in again.tables} <= {"unchanged"}
    assert not any(one.added or one.changed or one.dropped for one in again.tables)
    assert {table.version for table in catalog.tables("web")} <= {0}


def crawl(layout: Layout, catalog: Catalog, lake: Path, run_id: str) -> CrawlReport:
    return crawl_folder(
        catalog,
        lake,
        exclusions=layout.exclusions,
        classifiers=layout.classifiers,
        configuration=configuration(layout, lake),
        run_id=run_id,
        **layout.settings,
    )


def described(catalog: Catalog, table: Table) -> tuple[str, str, str, int]:
    told, compression = table.parameters["classification"], table.parameters["compressionType"]
    keys = ", ".join(key.name for key in table.partition_keys)
    title = told if compression == "none" else f"{told} ({compression})"
    return title, columns(table), keys, len(catalog.partitions(table))
