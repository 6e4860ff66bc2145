"""The Data Catalog: databases, tables, partitions, connections."""
