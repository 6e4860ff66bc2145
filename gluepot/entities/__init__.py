"""Finds and hides sensitive data in the texts of chunks: what `EntityDetector` decides. No Spark."""
