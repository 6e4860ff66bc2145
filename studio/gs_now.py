"""Glue Studio's "Add Current Timestamp": DataFrames get `gs_now` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_now")
