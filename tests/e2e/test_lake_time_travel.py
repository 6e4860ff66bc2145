"""Tables of a lake that change: read as they were by each of Glue's calls, and written with a further column."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from gluepot.catalog.connect import catalog_url, open_catalog
from gluepot.catalog.formats import new_storage
from gluepot.catalog.store import Catalog
from gluepot.catalog.values import Database, Table
from gluepot.core.clock import SystemClock
from gluepot.crawl.run import crawl
from gluepot.crawl.settings import CrawlSettings, Target
from tests.e2e.jobs import SCRIPTS, arguments
from tests.e2e.lake import delta_rows, glue_catalog, iceberg_rows

NOW, THEN = [15, 15, 15, 15, 5], [10, 10, 10, 10, 5]
CHOICES = {
    "iceberg": ["snapshot-id", "as-of-timestamp", "tag", "branch", "versionAsOf"],
    "delta": ["versionAsOf", "timestampAsOf"],
}


def crawl_clicks_of_others(catalog: Catalog, folder: Path) -> None:
    """Let another program keep a table of three rows, and crawl its folder."""
    folder.mkdir()
    theirs = SqlCatalog("theirs", uri=f"sqlite:///{folder}/theirs.db", warehouse=f"file://{folder}")
    theirs.create_namespace("web")
    rows = pa.table({"id": [1, 2, 3]})
    theirs.create_table("web.clicks", rows.schema).append(rows)
    theirs.engine.dispose()
    crawl(CrawlSettings("daily", "found", (Target(f"{folder}/web"),)), catalog, Random(1), make_database=True)


@pytest.mark.parametrize("form", ["iceberg", pytest.param("delta", marks=pytest.mark.long)])
def test_each_call_reads_a_table_as_it_was_before_a_column_was_added(launch, tmp_path, form):
    state = tmp_path / "state"
    state.mkdir()
    path = "glue_catalog.lake.numbers" if form == "iceberg" else str(tmp_path / "table")
    catalog = open_catalog(catalog_url({"GLUEPOT_STATE": str(state)}), SystemClock())
    if form == "iceberg":  # it is found in its own catalog, and beside it one that no catalog of the job has
        crawl_clicks_of_others(catalog, tmp_path / "elsewhere")
    else:
        catalog.add_database(Database("lake"))
        storage = new_storage("parquet", path).body
        catalog.add_table(
            Table("lake", "numbers", {"StorageDescriptor": storage, "Parameters": {"table_type": "DELTA"}})
        )
    given = arguments(JOB_NAME="back", format=form, path=path, output_path=tmp_path / "counts.json")

    job = launch.hosted(
        "run", SCRIPTS / "read_lake_back.py", "--master", "local[2]", "--", "--datalake-formats", form,
        *glue_catalog(tmp_path / "warehouse"), *given, env={"GLUEPOT_STATE": str(state)},
    )  # fmt: skip

    assert job.exit_code() == 0, job.err
    crawled = {"crawled": [3, 2]} if form == "iceberg" else {}
    wanted = {"": NOW, **dict.fromkeys(CHOICES[form], THEN), **crawled}
    assert json.loads((tmp_path / "counts.json").read_text()) == wanted
    columns = ("n", "note")
    rows = iceberg_rows(state, "numbers", *columns) if form == "iceberg" else delta_rows(tmp_path / "table", *columns)
    assert Counter(row["note"] for row in rows) == {None: 10, "late": 5}
