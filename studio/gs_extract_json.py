"""Glue Studio's "Extract JSON Path": DataFrames get `gs_extract_json` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_extract_json")
