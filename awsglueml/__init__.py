"""Glue's transforms that learn from data or look for sensitive data (docs/glue 7 and 13.4)."""
