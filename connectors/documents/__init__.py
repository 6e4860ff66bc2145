"""Writes to stores that keep each row under an id: ids that a retry repeats, and records that a store refuses."""
