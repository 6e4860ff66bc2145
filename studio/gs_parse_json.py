"""Glue Studio's "Parse JSON Column": DataFrames get `gs_parse_json` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_parse_json")
