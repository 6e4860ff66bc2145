"""Glue Studio's "Autobalance Processing": DataFrames get `gs_repartition` when it is imported."""

from awsglue.visual.methods import on_data_frames

on_data_frames("gs_repartition")
