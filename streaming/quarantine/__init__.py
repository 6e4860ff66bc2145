"""Finds the records that make a batch function fail, by halving the batch, and keeps them as dead letters."""
