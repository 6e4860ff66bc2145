"""Glue Studio's "UUID": DataFrames get `gs_uuid` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_uuid")
