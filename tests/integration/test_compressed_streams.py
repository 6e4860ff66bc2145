"""Records that are compressed one by one, as Glue reads them."""

import bz2
import gzip
import json
import lzma
import zlib

import duckdb
import pytest
from pyspark.sql.functions import lit

from awsglue import DynamicFrame

CODECS = (gzip.compress, zlib.compress, bz2.compress, lzma.compress, bytes)


def through_rows(job):
    def function(data_frame, batch_id):
        rows = DynamicFrame.fromDF(data_frame, job.glue_context, "frame").toDF().withColumn("batch", lit(batch_id))
        job.write(DynamicFrame.fromDF(rows, job.glue_context, "rows"))

    return function


def spark_rows(job):
    """The frame becomes Spark's rows before it becomes a DynamicFrame."""

    def function(data_frame, batch_id):
        job.write(DynamicFrame.fromDF(data_frame.withColumn("batch", lit(batch_id)), job.glue_context, "frame"))

    return function


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("way", [None, through_rows, spark_rows])
def test_each_codec_is_read_beside_plain_records(job, topic, declared, way):
    payloads = [CODECS[n % 5](json.dumps({"id": n, "name": f"n{n}"}).encode()) for n in range(50)]
    topic.send(*payloads, gzip.compress(b"{"), partition=0)
    options = topic.options(**({"schema": "id INT, name STRING"} if declared else {}))
    stats = job.drain(options, way and way(job))

    assert (sum(one.rows_out for one in stats), sum(sum(one.rejected.values()) for one in stats)) == (50, 1)
    found = duckdb.sql(f"SELECT id, name FROM read_parquet('{job.table}/*.parquet') ORDER BY id").fetchall()
    assert found == [(n, f"n{n}") for n in range(50)]
