"""Glue Studio's "Concatenate Columns": DataFrames get `gs_concat` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_concat")
