"""Glue Studio's "Unpivot Columns Into Rows": DataFrames get `gs_unpivot` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_unpivot")
