"""Glue's own Parquet writer, `format="glueparquet"`: one pass, no schema known beforehand."""

from connectors.glueparquet.format import ParquetFormat
from connectors.glueparquet.read import parquet_schema, read_parquet
from connectors.glueparquet.sink import glueparquet_sink

__all__ = ["ParquetFormat", "glueparquet_sink", "parquet_schema", "read_parquet"]
