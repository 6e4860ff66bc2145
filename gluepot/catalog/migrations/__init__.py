"""The history of the catalog's tables."""
