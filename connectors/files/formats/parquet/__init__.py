"""Parquet: `write` is Glue's own writer, `format="glueparquet"`: one pass, no schema known beforehand."""
