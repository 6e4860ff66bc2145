"""The table of connection types, and what other packages add to it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gluepot.connectors import registry
from gluepot.connectors.registry import Access, Connector, connector, types_that
from gluepot.core.errors import ConfigError


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package whose module `NAME` has the given text; its entry points are added by name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def forget() -> None:
        registry._entry_points.cache_clear()
        registry._loaded.cache_clear()

    def package(name: str, module: str, **entry_points: str) -> None:
        monkeypatch.delitem(sys.modules, name, raising=False)
        (tmp_path / f"{name}.py").write_text(module)
        about: Path = tmp_path / f"{name}-2.1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.1\n")
        lines = [f"{kind} = {place}" for kind, place in entry_points.items()]
        (about / "entry_points.txt").write_text("\n".join(["[gluepot.connectors]", *lines]))
        forget()

    yield package
    monkeypatch.undo()
    forget()


GOOD = """
from gluepot.connector_api import Access, Connector

CONNECTOR = Connector(Access.RECORDS, batch_source="good_types:read")
"""


def test_a_package_adds_types_that_can_be_looked_up_in_any_letter_case(install):
    install("good_types", GOOD, Good="good_types:CONNECTOR")

    assert connector("GOOD").batch_source == "good_types:read"
    assert types_that(lambda one: one.batch_source).startswith("'good', 'dynamodb'")


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("", "AttributeError: module 'sad_types' has no attribute 'CONNECTOR'"),
        (
            "from gluepot.connector_api import *\nCONNECTOR = Connector(Access.RECORDS)",
            "ConfigError: The connector reads records (reads=Access.RECORDS) but names no source; give it a ",
        ),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named_with_the_reason_and_the_remedy(install, module, reason):
    install("sad_types", module, sad="sad_types:CONNECTOR")

    with pytest.raises(ConfigError) as told:
        connector("sad")

    assert str(told.value).startswith(
        "Connection type 'sad' is added by the entry point sad_types:CONNECTOR of sad_types 2.1, which cannot be loaded"
        f" ({reason}"
    )
    assert str(told.value).endswith("; repair, update or uninstall the package.")


def test_an_entry_point_that_is_no_connector_is_named(install):
    install("odd_types", "CONNECTOR = 7", odd="odd_types:CONNECTOR")

    with pytest.raises(ConfigError, match=r"odd_types 2\.1, which is a int and not a Connector"):
        connector("odd")


def test_a_broken_package_hides_no_other_type(install, capsys):
    install("good_types", GOOD, good="good_types:CONNECTOR")
    install("sad_types", "1 / 0", sad="sad_types:CONNECTOR")

    assert connector("good").reads is Access.RECORDS
    assert connector("unheard_of").reads is None
    assert types_that(lambda one: one.batch_source).startswith("'good', 'dynamodb'")
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"reads": Access.RECORDS}, "names no source; give it a stream_source or a batch_source"),
        ({"reads": Access.RECORDS, "stream_source": "my.ticks:source"}, "'my.ticks:source' but no class for its"),
        ({"writes": Access.RECORDS}, "names no sink; give it a record_sink"),
    ],
)
def test_a_connector_that_lacks_what_it_says_it_can_do_is_refused_when_it_is_made(given, missing):
    with pytest.raises(ConfigError, match=missing):
        Connector(**given)


def test_a_connection_that_the_options_name_lies_below_them():
    def find(name):
        assert name == "broker"

    kind = Connector(connection=f"{__name__}:properties_of")

    assert kind.with_connection({"connectionName": "broker", "b": 3}, find) == {
        "connectionName": "broker",
        "a": 1,
        "b": 3,
    }
    assert kind.with_connection({"b": 3}, find) == {"b": 3}
    assert Connector().with_connection({"connectionName": "of another kind"}, find) == {
        "connectionName": "of another kind"
    }


def properties_of(connection):
    return {"a": 1, "b": 2}
