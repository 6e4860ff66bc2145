"""Sources of your own under the rule of job bookmarks.

from gluepot.sources import read_on

def orders(cursor):
    page = requests.get(URL, params={"after": cursor}).json()
    return page["orders"], page["last"]

frame = read_on(glueContext, orders, transformation_ctx="orders0")
...
job.commit()  # only now the next run begins behind page["last"]
"""

from __future__ import annotations

from awsglue.context import GlueContext
from awsglue.counting import counted
from awsglue.dynamicframe import DynamicFrame
from gluepot.bookmarks import jobrun
from gluepot.bookmarks.cursor_input import ReadOn, cursor_input
from gluepot.engine.pipeline import Pipeline

__all__ = ["read_on"]


def read_on(glue_context: GlueContext, source: ReadOn, transformation_ctx: str) -> DynamicFrame:
    """Return the records of a source beyond the cursor of the last run that committed.

    A write of the frame with our own sinks is published once, as with files: a run that died between its write and its
    commit is skipped where the source gives equal records again, and replaced where it gives others.

    Args:
        glue_context: the job's.
        source: called once, with the cursor or None at first; returns the records, dicts, and the next cursor, anything
            that JSON holds. Kept in memory: return a page, not the world.
        transformation_ctx: key of the bookmark. Without bookmarks the function is always called with None.

    Raises:
        ConfigError: the next cursor is nothing that JSON holds.
    """
    pipeline = Pipeline(cursor_input(source, transformation_ctx, jobrun.for_read(transformation_ctx)))
    return DynamicFrame(counted(pipeline, transformation_ctx or "read_on"), glue_context, transformation_ctx)
