"""Records that a batch function fails on: found by halving the batch, kept as dead letters."""
