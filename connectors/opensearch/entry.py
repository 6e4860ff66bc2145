"""Where the registry finds OpenSearch and Elasticsearch. The client, an extra, is imported when a script uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gluepot.connectors.contracts import BatchRead
from gluepot.connectors.documents.extras import needed
from gluepot.connectors.opensearch.settings import read_settings, write_settings

if TYPE_CHECKING:
    from gluepot.connectors.opensearch.store import OpensearchStore


def opensearch_read(options: Mapping[str, Any]) -> BatchRead:
    """Return the read of an index for a script's options.

    Raises:
        ConfigError: an option is missing or wrong, or opensearch-py is missing.
        TransientError: the server does not answer.
    """
    return _read("opensearch", options)


def elasticsearch_read(options: Mapping[str, Any]) -> BatchRead:
    """Return the read of an index of Elasticsearch; raises as `opensearch_read`."""
    return _read("elasticsearch", options)


def opensearch_store(options: Mapping[str, Any]) -> OpensearchStore:
    """Return the store for a script's options.

    Raises:
        ConfigError: an option is missing or wrong, or opensearch-py is missing.
    """
    return _store("opensearch", options)


def elasticsearch_store(options: Mapping[str, Any]) -> OpensearchStore:
    """Return the store for a script's options of Elasticsearch; raises as `opensearch_store`."""
    return _store("elasticsearch", options)


def _store(kind: str, options: Mapping[str, Any]) -> OpensearchStore:
    settings = write_settings(kind, options)
    with needed("opensearch-py", "opensearch"):
        from gluepot.connectors.opensearch.store import OpensearchStore  # noqa: PLC0415  an extra
    return OpensearchStore(settings)


def _read(kind: str, options: Mapping[str, Any]) -> BatchRead:
    settings = read_settings(kind, options)
    with needed("opensearch-py", "opensearch"):
        from gluepot.connectors.opensearch.source import planned  # noqa: PLC0415  an extra
    return planned(settings)
