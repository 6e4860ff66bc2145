from datetime import UTC, datetime

import pytest

from tests.unit.service.world import World

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()  # a Monday


@pytest.fixture
def world(tmp_path):
    return World(tmp_path, NOON)
