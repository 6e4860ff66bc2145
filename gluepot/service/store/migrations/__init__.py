"""The history of the tables of data quality results."""
