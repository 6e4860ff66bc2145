from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from gluepot.connectors.options import warn_ignored, warn_unseen
from gluepot.core.logging import get_logger
from gluepot.core.option_values import SeenOptions

LOG = get_logger(__name__)


@pytest.mark.parametrize("name", ["typeDrift", "typeDrift.id", "withHeader", "separator"])
def test_an_option_of_the_format_among_those_of_the_connection_is_told_its_place(name):
    with capture_logs() as lines:
        warn_ignored(LOG, {"path": "out", name: "string"}, {"path"})
    assert [(line["option"], line["hint"]) for line in lines] == [(name, "move it to format_options")]


def test_an_option_of_the_connection_among_those_of_the_format_is_told_its_place():
    with capture_logs() as lines:
        warn_unseen(LOG, SeenOptions({"partitionKeys": ["day"], "compresion": "gzip"}))
    assert {line["option"]: line["hint"] for line in lines} == {
        "partitionKeys": "move it to connection_options",
        "compresion": "",
    }
