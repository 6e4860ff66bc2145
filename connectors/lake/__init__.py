"""Tables of data lakes: Iceberg and Delta."""

from gluepot.connectors.lake.catalogs import iceberg_catalogs
from gluepot.connectors.lake.local import AWS, localized, warehouse

__all__ = ["AWS", "iceberg_catalogs", "localized", "warehouse"]
