"""docs/service.md lists the operations that there are."""

import re
from pathlib import Path

from gluepot.service.operations import LOG_OPERATIONS, OPERATIONS
from gluepot.service.wire import query

DOCUMENT = Path(__file__).parents[3] / "docs" / "service.md"


def test_the_document_lists_every_operation():
    text = DOCUMENT.read_text().partition("## Operations")[2].partition("## ")[0]
    listed = re.findall(r"\b(?:[A-Z][a-z]+){2,}\b", " ".join(re.findall(r"^(?:- |  ).*", text, re.MULTILINE)))
    in_forms = {name for _, operations in query.SERVICES.values() for name in operations}
    known = {*OPERATIONS, *LOG_OPERATIONS, *in_forms}
    assert {name for name in listed if name != "CloudWatch"} == known
