"""Glue's own Parquet writer, `format="glueparquet"`: one pass, no schema known beforehand."""

from gluepot.connectors.glueparquet.format import ParquetFormat
from gluepot.connectors.glueparquet.read import parquet_schema, read_parquet
from gluepot.connectors.glueparquet.sink import glueparquet_sink

__all__ = ["ParquetFormat", "glueparquet_sink", "parquet_schema", "read_parquet"]
