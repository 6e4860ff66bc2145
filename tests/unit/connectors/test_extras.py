"""A store whose client is not installed is told in one sentence."""

from __future__ import annotations

import sys

import pytest

from gluepot.connectors.registry import connector
from gluepot.core.errors import ConfigError

MONGODB = {"connection.uri": "mongodb://one", "database": "d", "collection": "c"}
OPENSEARCH = {"opensearch.nodes": "one", "opensearch.resource": "i"}


@pytest.mark.parametrize(
    ("kind", "options", "package", "extra"),
    [
        ("mongodb", MONGODB, "pymongo", "mongodb"),
        ("documentdb", MONGODB, "pymongo", "mongodb"),
        ("opensearch", OPENSEARCH, "opensearch-py", "opensearch"),
        ("elasticsearch", OPENSEARCH, "opensearch-py", "opensearch"),
    ],
)
def test_a_missing_client_is_told(monkeypatch, kind, options, package, extra):
    for name in list(sys.modules):
        if name.startswith((f"gluepot.connectors.{extra}.s", f"gluepot.connectors.{extra}.c")):
            monkeypatch.delitem(sys.modules, name)
    for name in ("pymongo", "opensearchpy"):
        monkeypatch.setitem(sys.modules, name, None)
    for make in (connector(kind).new_document_store, connector(kind).new_batch_read):
        with pytest.raises(ConfigError, match=rf"needs {package}; run `pip install 'gluepot\[{extra}\]'`"):
            make(options)
