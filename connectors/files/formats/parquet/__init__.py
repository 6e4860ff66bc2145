"""Parquet: `read` reads files of any writer, `write` and `sink` write ours, `read_back` reads these again.

`write` is Glue's own writer, `format="glueparquet"`: one pass, no schema known beforehand.
"""
