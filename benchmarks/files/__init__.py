"""The files that a stream leaves, after compaction."""
