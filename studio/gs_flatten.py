"""Glue Studio's "Flatten": DataFrames get `gs_flatten` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_flatten")
