"""Glue Studio's "Identifier": DataFrames get `gs_identifier` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_identifier")
