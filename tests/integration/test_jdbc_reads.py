"""Bookmarked reads of a real PostgreSQL server, through Glue's own calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from awsglue.job import Job
from batch import jobrun
from tests.postgresql import new_database

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame


@dataclass
class TableJob:
    """Reads a table as a bookmarked job."""

    glue_context: GlueContext
    url: str
    runs: int = 0

    def sql(self, statement: str) -> None:
        with psycopg.connect(self.url) as connection:
            connection.execute(statement)

    def init(self, **arguments: Any) -> Job:
        self.runs += 1
        job = Job(self.glue_context)
        given = {"JOB_RUN_ID": f"jr_{self.runs}", "job_bookmark_option": "job-bookmark-enable"}
        job.init("orders", {**given, **arguments})
        return job

    def read(self, ctx: str = "source0", **options: Any) -> DynamicFrame:
        return self.glue_context.create_dynamic_frame.from_options(
            connection_type="postgresql",
            connection_options={"url": self.url, "dbtable": "orders", **options},
            transformation_ctx=ctx,
        )

    def run(self, arguments: dict[str, Any] | None = None, **options: Any) -> list[Any]:
        """Run the job once; return the ids it read, sorted."""
        job = self.init(**(arguments or {}))
        ids = sorted(row["id"] for row in self.read(**options).toDF().collect())
        job.commit()
        return ids


@pytest.fixture
def orders(glue_context, postgresql, tmp_path, monkeypatch) -> Iterator[TableJob]:
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_LEDGER", raising=False)
    with new_database(postgresql) as url:
        yield TableJob(glue_context, url)
        jobrun.end("the test ended")


def test_a_second_run_reads_what_is_new(orders):
    orders.sql("CREATE TABLE orders (id bigint PRIMARY KEY, name text)")
    orders.sql("INSERT INTO orders VALUES (1, 'a'), (2, 'b')")
    assert orders.run() == [1, 2]
    orders.sql("INSERT INTO orders VALUES (7, 'c')")
    assert orders.run() == [7]
    assert orders.run() == []
