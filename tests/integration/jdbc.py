"""A bookmarked job over tables of a real PostgreSQL server, through Glue's own calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from awsglue.job import Job

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame


@dataclass
class TableJob:
    """Reads the table `orders`, writes the table `copies`."""

    glue_context: GlueContext
    url: str
    runs: int = 0

    def sql(self, statement: str) -> list[Any]:
        with psycopg.connect(self.url) as connection:
            done = connection.execute(statement)
            return done.fetchall() if done.description else []

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

    def write(self, frame: DynamicFrame, table: str = "copies", **options: Any) -> None:
        self.glue_context.write_dynamic_frame.from_options(
            frame=frame,
            connection_type="postgresql",
            connection_options={"url": self.url, "dbtable": table, **options},
            transformation_ctx="sink0",
        )

    def run(self, arguments: dict[str, Any] | None = None, **options: Any) -> list[Any]:
        """Run a job that only reads; return the ids it got, sorted."""
        job = self.init(**(arguments or {}))
        ids = sorted(row["id"] for row in self.read(**options).toDF().collect())
        job.commit()
        return ids

    def copied(self) -> list[Any]:
        return [row[0] for row in self.sql("SELECT id FROM copies ORDER BY id")]
