"""`gluepot quality`: data quality rules."""
