"""Glue Studio's "Array To Columns": DataFrames get `gs_array_to_cols` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_array_to_cols")
