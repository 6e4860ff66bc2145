"""Where the registry finds MongoDB and DocumentDB. The client, an extra, is imported when a script uses one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gluepot.connectors.contracts import BatchRead
from gluepot.connectors.documents.extras import needed
from gluepot.connectors.mongodb.settings import read_settings, write_settings

if TYPE_CHECKING:
    from gluepot.connectors.mongodb.store import MongodbStore


def mongodb_read(options: Mapping[str, Any]) -> BatchRead:
    """Return the read of a collection for a script's options.

    Raises:
        ConfigError: an option is missing or wrong, or pymongo is missing.
        TransientError: the server does not answer.
    """
    return _read("mongodb", options)


def documentdb_read(options: Mapping[str, Any]) -> BatchRead:
    """Return the read of a collection of Amazon DocumentDB; raises as `mongodb_read`."""
    return _read("documentdb", options)


def mongodb_store(options: Mapping[str, Any]) -> MongodbStore:
    """Return the store for a script's options.

    Raises:
        ConfigError: an option is missing or wrong, or pymongo is missing.
    """
    return _store("mongodb", options)


def documentdb_store(options: Mapping[str, Any]) -> MongodbStore:
    """Return the store for a script's options of Amazon DocumentDB; raises as `mongodb_store`."""
    return _store("documentdb", options)


def _store(server: str, options: Mapping[str, Any]) -> MongodbStore:
    settings = write_settings(server, options)
    with needed("pymongo", "mongodb"):
        from gluepot.connectors.mongodb.store import MongodbStore  # noqa: PLC0415  an extra
    return MongodbStore(settings)


def _read(server: str, options: Mapping[str, Any]) -> BatchRead:
    settings = read_settings(server, options)
    with needed("pymongo", "mongodb"):
        from gluepot.connectors.mongodb.source import planned  # noqa: PLC0415  an extra
    return planned(settings)
