"""Glue Studio's "Lookup": DataFrames get `gs_lookup` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_lookup")
