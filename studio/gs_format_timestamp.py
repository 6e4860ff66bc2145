"""Glue Studio's "Format Timestamp": DataFrames get `gs_format_timestamp` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_format_timestamp")
