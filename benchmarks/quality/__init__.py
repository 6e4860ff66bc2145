"""Thirty data quality rules over a Parquet file set, ours and the same checks written in PySpark."""
