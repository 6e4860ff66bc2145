"""A fixed sample of the differential kinds of databases; `python -m tests.differential` runs more."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.differential.kind import World
from tests.differential.kinds import databases_h2, databases_mariadb, databases_postgresql


@pytest.mark.parametrize("name", ["postgresql", "mariadb", "h2"])
def test_rows_in_random_cuts_are_those_that_the_databases_own_client_writes(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, name: str, tmp_path: Path
) -> None:
    server = request.getfixturevalue(name)
    module: Any = {"postgresql": databases_postgresql, "mariadb": databases_mariadb, "h2": databases_h2}[name]
    monkeypatch.setattr(module, "TABLES", {"postgresql": 4, "mariadb": 6, "h2": 1}[name])

    def spark() -> Any:
        return request.getfixturevalue("glue_context").spark_session

    kind = module.Kind(server)
    result = kind.round(Random("sample 1"), World(spark, tmp_path))
    kind.close()
    assert result.taken
    assert not [one for one in result.differences if not one.explained]
