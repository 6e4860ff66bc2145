"""The texts that fit a pattern are those that Spark itself can read by it."""

import pyarrow as pa
from pyspark.sql import functions as sql

from gluepot.quality.date_patterns import date_pattern

TEXTS = [
    "31/01/2024", "1/1/2024", "29/02/2023", "29/02/2024", "2024-01-31", "2024-1-3", "20240131", "240131", "Jan 5, 2024",
    "jan 05, 2024", "january 5, 2024", "05-JAN-24", "2024-02-30", "12:30 PM", "12:30 pm", "0:30 AM", "13:30 PM", "13:30",
    "24:00", "23:59:59", "23:59:60", "23:59:59.1", "23:59:59.123456", "2024-01-31T10:11:12Z", "2024-01-31T10:11:12+01:00",
    "2024-01-31T10:11:12+0100", "2024-01-31T10:11:12+01", "2024-01-31T10:11:12.5+01:00", "2024-060", "2024-366",
    "2023-366", "+12024-01-01", "12024-01-01", " 2024-01-31", "2024-01-31 ", "", "2024", "24", "2024-13-01", "31.01.2024",
    "2024-01-31 10:11", "2024-01-31 10:11:12", "x", None,
]  # fmt: skip
PATTERNS = [
    "dd/MM/yyyy", "d/M/yyyy", "yyyy-MM-dd", "yyyy-M-d", "yyyyMMdd", "yyMMdd", "MMM d, yyyy", "MMM dd, yyyy",
    "MMMM d, yyyy", "dd-MMM-yy", "h:mm a", "hh:mm a", "H:mm", "HH:mm", "k:mm", "K:mm a", "HH:mm:ss", "HH:mm:ss.SSS",
    "HH:mm:ss[.SSSSSS]", "yyyy-MM-dd'T'HH:mm:ssXXX", "yyyy-MM-dd'T'HH:mm:ssX", "yyyy-MM-dd'T'HH:mm:ssZ",
    "yyyy-MM-dd'T'HH:mm:ss[.S]xxx", "yyyy-MM-dd'T'HH:mm:ssXXXXX", "yyyy-DDD", "yyyy-D", "yyyy", "yy",
    "yyyy-MM-dd[ HH:mm[:ss]]", "dd.MM.yyyy", "MM/dd", "yyyyy-MM-dd", "M", "LLL d, yyyy", "HH:mm a",
]  # fmt: skip


def test_texts_fit_a_pattern_as_spark_reads_them(glue_context):
    frame = glue_context.spark_session.createDataFrame([(text,) for text in TEXTS], "text string")
    read = [sql.try_to_timestamp("text", sql.lit(pattern)).isNotNull() for pattern in PATTERNS]
    by_spark = list(zip(*map(tuple, frame.select(*read).collect()), strict=True))
    for pattern, expected in zip(PATTERNS, by_spark, strict=True):
        assert date_pattern(pattern).fits(pa.array(TEXTS)).to_pylist() == list(expected), pattern
