"""Glue Studio's "Remove Null Rows": DataFrames get `gs_null_rows` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_null_rows")
