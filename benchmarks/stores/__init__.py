"""Writes to stores of documents, beside the store's own client in a tight loop."""
