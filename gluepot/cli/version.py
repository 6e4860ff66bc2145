"""`gluepot version`."""

from __future__ import annotations

import os

from gluepot.cli.output import Output, Row, show
from gluepot.cli.parts import parts


def version_(*, output: Output = "text") -> None:
    """Say which parts of Gluepot are there: the JSON kernel, Java, Spark, the extras; and how to get the others.

    Args:
        output: text for people; json for a list of objects with part, found and how.
    """
    rows: list[Row] = [{"part": one.name, "found": one.found, "how_to_get_it": one.how} for one in parts(os.environ)]
    show(rows, output, "")
