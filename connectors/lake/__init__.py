"""Tables of data lakes: Iceberg and Delta."""

from connectors.lake.catalogs import iceberg_catalogs
from connectors.lake.local import AWS, localized

__all__ = ["AWS", "iceberg_catalogs", "localized"]
