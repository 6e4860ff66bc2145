"""A script as Glue Studio writes it for sensitive data, run unchanged."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from gluepot.testing import GlueJobRunner
from tests.e2e.jobs import SCRIPTS
from tests.job_host.client import hosted_python

ROWS = [
    "id,name,contact,ssn,note",
    "1,Ada,ada@example.com,536-90-4399,call (212) 456-7890",
    '2,Bob,,none,"mail bob@example.org, please"',
    "3,Eve,eve@example.net,212-09-7694,",
]


@pytest.fixture
def written(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "people.csv").write_text("\n".join(ROWS) + "\n")
    GlueJobRunner(tmp_path, python=hosted_python())(
        SCRIPTS / "sensitive_data.py", {"input_path": tmp_path / "in", "output_path": tmp_path / "out"}
    )

    def read(name):
        files = (tmp_path / "out" / name).glob("run-*")
        rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        return {str(row["id"]): row for row in rows}

    return read


def hashed(text):
    return sha256(text.encode()).hexdigest()


def test_sensitive_data_is_hidden_by_actions_by_cells_and_by_columns(written):
    actions, cells, columns = written("actions"), written("cells"), written("columns")

    assert (actions["1"]["contact"], actions["1"]["ssn"]) == ("ad*************", hashed("536-90-4399"))
    assert actions["1"]["note"] == "call *******"
    assert actions["2"]["note"] == "mail bo*************, please"
    assert actions["2"]["DetectedEntities"] == {
        "note": [{"entityType": "EMAIL", "start": 5, "end": 20, "actionUsed": "PARTIAL_REDACT"}]
    }

    assert [cells[key]["contact"] for key in "13"] == ["XXXXXXX", "XXXXXXX"]
    assert [cells[key]["ssn"] for key in "123"] == ["XXXXXXX", "none", "XXXXXXX"]
    assert cells["2"]["note"] == "mail XXXXXXX, please"
    assert (cells["1"]["name"], "DetectedEntities" in cells["1"]) == ("Ada", False)

    assert (columns["3"]["contact"], columns["2"]["ssn"]) == (hashed("eve@example.net"), hashed("none"))
    assert [columns[key]["name"] for key in "123"] == ["Ada", "Bob", "Eve"]
