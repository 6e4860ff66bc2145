"""Tables of data lakes: Iceberg and Delta."""

from connectors.lake.local import AWS, localized

__all__ = ["AWS", "localized"]
