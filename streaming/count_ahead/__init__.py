"""Counts that also do the work which the batch function is expected to do next."""
