"""The part of a script that both sides have word for word: the newest click of each user over what is known of all."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from benchmarks.drain.shapes import SHAPES

KNOWN_USERS = 200_000
SHAPE = SHAPES["e500"]
COLUMNS = ("user_id", "clicks", "country", "os", "last_page", "last_tag", "price", "score")


def known(spark: SparkSession) -> None:
    """Make the view of what is known: kept in memory, so that both sides' batches differ only in how they come."""
    users = spark.sql(
        f"""SELECT id * 5 AS user_id, id % 7 AS clicks, 'DE' AS country, 'linux' AS os, '/' AS last_page,
        'new' AS last_tag, CAST(NULL AS double) AS price, CAST(id AS double) / 8 AS score FROM range({KNOWN_USERS})"""
    )
    users.cache().createOrReplaceTempView("known")
    users.count()


def merge(spark: SparkSession, clicks: DataFrame, folder: str) -> None:
    """Write what a MERGE by user would leave of a batch's clicks and the users that are known."""
    clicks.createOrReplaceTempView("clicks")
    merged = spark.sql(
        """WITH ranked AS (
            SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY event_id DESC, request_id) AS nth,
                   count(*) OVER (PARTITION BY user_id) AS clicks
            FROM clicks),
        newest AS (SELECT * FROM ranked WHERE nth = 1)
        SELECT coalesce(n.user_id, k.user_id) AS user_id, coalesce(k.clicks, 0) + coalesce(n.clicks, 0) AS clicks,
               coalesce(n.country, k.country) AS country, coalesce(n.device.os, k.os) AS os,
               coalesce(n.page, k.last_page) AS last_page, coalesce(try_element_at(n.tags, -1), k.last_tag) AS last_tag,
               coalesce(n.price, k.price) AS price, coalesce(n.score, k.score) AS score
        FROM known k FULL OUTER JOIN newest n ON n.user_id = k.user_id"""
    )
    merged.write.mode("append").parquet(folder)
