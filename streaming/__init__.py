"""forEachBatch: one query, one micro-batch at a time."""
