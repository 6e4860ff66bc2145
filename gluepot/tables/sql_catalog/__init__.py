"""Makes the databases and tables of the Data Catalog those of Spark SQL (docs/decisions/0042)."""

from gluepot.tables.sql_catalog.install import use_data_catalog

__all__ = ["use_data_catalog"]
