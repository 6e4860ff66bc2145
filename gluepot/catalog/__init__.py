"""The Data Catalog on the command line."""

from gluepot.catalog.commands import app

__all__ = ["app"]
