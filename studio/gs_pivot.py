"""Glue Studio's "Pivot Rows Into Columns": DataFrames get `gs_pivot` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_pivot")
