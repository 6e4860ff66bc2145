"""Which registry options name, and how it is asked."""

import pytest

from gluepot.connectors.streams.registries import registry_of
from gluepot.connectors.streams.registries.confluent import ConfluentRegistry
from gluepot.connectors.streams.registries.glue import GlueRegistry
from gluepot.connectors.streams.registries.lookup import Lookup
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError, PermanentError, TransientError
from gluepot.frames.registered import WrittenSchema
from tests import confluent_registry

SCHEMA = WrittenSchema("JSON", "{}")
URL = "schema.registry.url"


@pytest.fixture
def registry():
    with confluent_registry.running() as running:
        yield running


def test_options_without_a_registry_name_none(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_GLUE", "http://127.0.0.1:1")
    assert registry_of({"topicName": "clicks"}) is None


def test_glues_registry_is_where_the_environment_says_or_the_option(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_GLUE", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.delenv("AWS_REGION", raising=False)
    assert registry_of({"schemaRegistry": "Glue"}) == GlueRegistry("http://127.0.0.1:1", "eu-west-1")
    other = {"schemaRegistry": "glue", "schemaRegistryEndpoint": "http://127.0.0.1:2"}
    assert registry_of(other) == GlueRegistry("http://127.0.0.1:2", "eu-west-1")


def test_a_user_may_be_part_of_the_address_or_an_option_and_is_never_shown():
    by_url = registry_of({URL: "https://ada:p%40ss@host:8081/, http://other:1"})
    assert by_url == ConfluentRegistry(("https://host:8081", "http://other:1"), "ada:p@ss")
    assert "p@ss" not in repr(by_url)
    by_option = registry_of({URL: "http://host", "schema.registry.basic.auth.user.info": "ada:x"})
    assert by_option == ConfluentRegistry(("http://host",), "ada:x")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schemaRegistry": "karapace"}, "schemaRegistry is 'karapace'; use glue, or confluent"),
        ({"schemaRegistry": "confluent"}, "give schema.registry.url"),
        ({"schemaRegistry": "glue", URL: "http://host"}, "remove one of them"),
        ({URL: "u:secret@host:8081"}, "use addresses such as"),
        ({URL: "http://a:b@host", "schema.registry.bearer.auth.token": "t"}, "use one of them"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options, message):
    with pytest.raises(ConfigError, match=message) as refused:
        registry_of(options)
    assert "secret" not in str(refused.value)


def test_a_schema_is_looked_up_once_and_a_missing_one_each_time():
    asked = []

    def fetch(schema_id):
        asked.append(schema_id)
        return SCHEMA if schema_id == "1" else None

    lookup = Lookup(fetch, FakeClock())
    assert [lookup.schema(one) for one in ("1", "2", "1", "2")] == [SCHEMA, None, SCHEMA, None]
    assert asked == ["1", "2", "2"]


def test_a_registry_that_is_away_is_asked_again_until_the_deadline():
    answers = [TransientError("away"), TransientError("away"), SCHEMA]

    def fetch(_):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    clock = FakeClock()
    assert Lookup(fetch, clock).schema("1") == SCHEMA
    assert clock.now == 1.5

    def never(_):
        raise TransientError("away")

    with pytest.raises(TransientError):
        Lookup(never, clock).schema("1")
    assert 290 < clock.now - 1.5 <= 300


def test_references_come_before_the_schemas_that_name_them(registry):
    line = registry.register("line", {"schema": '"line"'})
    of_line = [{"name": "Line", "subject": "line", "version": 1}]
    registry.register("order", {"schema": '"order"', "references": of_line})
    of_order = [{"name": "Order", "subject": "order", "version": 1}]
    number = registry.register("shop", {"schema": '"shop"', "references": of_order})
    found = ConfluentRegistry((registry.url,)).schema(str(number))
    assert found == WrittenSchema("AVRO", '"shop"', (("Line", '"line"'), ("Order", '"order"')))
    assert line == 1


def test_the_next_address_is_asked_if_one_does_not_answer(registry):
    registry.register("clicks", {"schema": "{}", "schemaType": "JSON"})
    assert ConfluentRegistry(("http://127.0.0.1:9", registry.url)).schema("1") == SCHEMA
    assert ConfluentRegistry((registry.url,)).schema("2") is None


def test_a_server_that_is_no_registry_does_not_make_records_unknown(registry):
    with pytest.raises(PermanentError, match=r"check schema\.registry\.url"):
        ConfluentRegistry((f"{registry.url}/wrong",)).schema("1")
