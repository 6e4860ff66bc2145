"""Options of OpenSearch and Elasticsearch as scripts spell them."""

from __future__ import annotations

import json

import pytest

from gluepot.connectors.opensearch.settings import read_settings, write_settings
from gluepot.core.errors import ConfigError, NotSupported

GIVEN = {"opensearch.nodes": "http://one", "opensearch.resource": "orders"}


def test_the_defaults_are_those_of_the_connector():
    written, read = write_settings("opensearch", GIVEN), read_settings("opensearch", GIVEN)
    assert (written.operation, written.id_path, written.batch_entries, written.batch_bytes) == (
        "index",
        (),
        1000,
        1 << 20,
    )
    assert (read.page_documents, read.keep_alive, read.documents_a_slice) == (1000, "5m", None)
    assert json.loads(read.query) == {"match_all": {}}
    assert written.address.nodes == ("http://one:9200",)


def test_options_of_an_example_of_glue():
    given = {
        "opensearch.nodes": "https://search-shop.es.amazonaws.com", "opensearch.port": "443",
        "opensearch.net.http.auth.user": "me", "opensearch.net.http.auth.pass": " p ",
        "opensearch.nodes.wan.only": "true", "opensearch.resource": "orders/_doc", "opensearch.mapping.id": "order.id",
        "opensearch.batch.size.entries": "50", "opensearch.batch.size.bytes": "2mb",
        "opensearch.write.operation": "upsert",
    }  # fmt: skip
    written = write_settings("opensearch", given)
    assert written.address.nodes == ("https://search-shop.es.amazonaws.com:443",)
    assert (written.address.index, written.address.user, written.address.password) == ("orders", "me", " p ")
    assert (written.id_path, written.operation) == (("order", "id"), "upsert")
    assert (written.batch_entries, written.batch_bytes) == (50, 2 << 20)


def test_options_of_elasticsearch_have_another_prefix():
    written = write_settings(
        "elasticsearch", {"es.nodes": "a:1, b", "es.port": "7", "es.resource": "x", "ES.mapping.id": "k"}
    )
    assert written.address.nodes == ("http://a:1", "http://b:7")
    assert written.id_path == ("k",)


def test_encryption_is_asked_for_by_scheme_port_or_option():
    for more in ({"opensearch.nodes": "https://one"}, {"opensearch.net.ssl": "true"}, {"opensearch.port": "443"}):
        given = {**GIVEN, "opensearch.nodes": "one", **more}
        assert write_settings("opensearch", given).address.nodes[0].startswith("https://one:")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("?q=kind:book", {"query_string": {"query": "kind:book"}}),
        ('{"query": {"term": {"n": 1}}}', {"term": {"n": 1}}),
        ('{"term": {"n": 1}}', {"term": {"n": 1}}),
    ],
)
def test_queries_have_three_forms(text, query):
    assert json.loads(read_settings("opensearch", {**GIVEN, "opensearch.query": text}).query) == query


def test_passwords_are_in_no_message():
    given = {**GIVEN, "opensearch.net.http.auth.user": "me", "opensearch.net.http.auth.pass": "secret"}
    address = write_settings("opensearch", given).address
    assert "secret" not in f"{address!r} {address.where}"
    with pytest.raises(ConfigError) as told:
        write_settings("opensearch", {**GIVEN, "opensearch.nodes": "http://me:secret@one"})
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"opensearch.resource": ""}, "resource is missing"),
        ({"opensearch.resource": "Orders"}, "lower case"),
        ({"opensearch.resource": "or*"}, "'or\\*'"),
        ({"opensearch.resource": "orders-{day}"}, "index that a field names"),
        ({"opensearch.write.operation": "delete"}, "use one of index"),
        ({"opensearch.write.operation": "create", "opensearch.mapping.id": "n"}, "second time"),
        ({"opensearch.write.operation": "update"}, "mapping.id"),
        ({"opensearch.batch.size.bytes": "much"}, "such as 1mb"),
        ({"opensearch.batch.size.bytes": "0mb"}, "such as 1mb"),
        ({"opensearch.batch.size.entries": "-1"}, "integer"),
        ({"opensearch.nodes": "ftp://one"}, "https://host"),
        ({"opensearch.nodes": "one/path"}, "https://host"),
    ],
)
def test_what_is_wrong_with_a_write_is_told_in_one_sentence(wrong, said):
    with pytest.raises(ConfigError, match=said):
        write_settings("opensearch", {**GIVEN, **wrong})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"opensearch.query": "kind = book"}, "not a JSON object"),
        ({"opensearch.query": "[1]"}, "not a JSON object"),
        ({"opensearch.query": "?kind=book"}, r"\?q=text"),
        ({"opensearch.scroll.keepalive": "long"}, "such as 5m"),
    ],
)
def test_what_is_wrong_with_a_read_is_told_in_one_sentence(wrong, said):
    with pytest.raises(ConfigError, match=said):
        read_settings("opensearch", {**GIVEN, **wrong})


def test_signatures_of_aws_are_not_there():
    with pytest.raises(NotSupported, match="sigv4"):
        write_settings("opensearch", {**GIVEN, "opensearch.aws.sigv4.enabled": "true"})
