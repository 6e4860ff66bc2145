"""Glue Studio's "Derived Column": DataFrames get `gs_derived` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_derived")
