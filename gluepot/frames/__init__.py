"""Self-describing Arrow chunks: schemas, choice types, transforms. Pure pyarrow, no Spark."""
