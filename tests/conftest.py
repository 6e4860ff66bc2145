from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gluepot.servers.kafka import KafkaBroker
from tests.servers import kafka_endpoint


def pytest_configure(config: pytest.Config) -> None:
    # kafka-python loads its schemas with a call that Python 3.11 and 3.12 deprecate and 3.13 has back.
    config.addinivalue_line("filterwarnings", "ignore:(read|open)_text is deprecated:DeprecationWarning")


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`host:port` of a real broker that all tests share."""
    with kafka_endpoint(tmp_path_factory.mktemp("kafka")) as bootstrap:
        yield bootstrap


@pytest.fixture
def own_kafka(tmp_path: Path) -> Iterator[KafkaBroker]:
    """A running embedded broker that the test may stop, kill and restart."""
    with KafkaBroker(tmp_path / "kafka") as broker:
        yield broker
