"""Data Catalog: connections today, databases, tables and partitions to come."""
