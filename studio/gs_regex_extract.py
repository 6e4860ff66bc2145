"""Glue Studio's "Regex Extractor": DataFrames get `gs_regex_extract` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_regex_extract")
