"""Writes to stores of documents, side by side with a loop over the store's own client."""
