"""docs/service.md lists the operations that there are, and the clients that tests use."""

import re
import tomllib

from gluepot.service.operations import EVENT_OPERATIONS, LOG_OPERATIONS, METRIC_OPERATIONS, OPERATIONS
from gluepot.service.wire import query
from tests.repository import REPOSITORY

DOCUMENT = REPOSITORY / "docs" / "service.md"
CLIENTS = {
    "uv.lock": {"boto3", "pyiceberg"},
    "tests/clients/uv.lock": {"apache-airflow-providers-amazon", "awscli", "awswrangler"},
}
"""The clients that the document names, by the lock that has their versions."""


def test_the_document_lists_every_operation():
    text = DOCUMENT.read_text().partition("## Operations")[2].partition("## ")[0]
    listed = re.findall(r"\b(?:[A-Z][a-z]+){2,}\b", " ".join(re.findall(r"^(?:- |  ).*", text, re.MULTILINE)))
    in_forms = {name for _, operations in query.SERVICES.values() for name in operations}
    known = {*OPERATIONS, *LOG_OPERATIONS, *EVENT_OPERATIONS, *METRIC_OPERATIONS, *in_forms}
    assert {name for name in listed if name not in {"CloudWatch", "EventBridge"}} == known


def test_the_document_names_the_clients_in_the_versions_that_tests_use():
    named = set(re.findall(r"\(`([\w-]+)` ([\d.]+)\)", DOCUMENT.read_text()))
    packages = {lock: tomllib.loads((REPOSITORY / lock).read_text())["package"] for lock in CLIENTS}
    assert named == {
        (one["name"], one["version"])
        for lock, names in CLIENTS.items()
        for one in packages[lock]
        if one["name"] in names
    }
