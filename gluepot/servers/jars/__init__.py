"""Named sets of Java archives, locked by version and SHA-256, fetched once into our cache."""

from gluepot.servers.jars.fetch import ensure

__all__ = ["ensure"]
