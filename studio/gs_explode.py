"""Glue Studio's "Explode Array Or Map Into Rows": DataFrames get `gs_explode` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_explode")
