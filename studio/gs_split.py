"""Glue Studio's "Split String": DataFrames get `gs_split` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_split")
