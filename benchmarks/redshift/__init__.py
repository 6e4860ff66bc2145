"""Staging rows for Redshift, side by side with a tight loop of Parquet and S3's own client."""
