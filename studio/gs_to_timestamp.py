"""Glue Studio's "To Timestamp": DataFrames get `gs_to_timestamp` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_to_timestamp")
