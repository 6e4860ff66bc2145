"""The option `--on-malformed`: what happens to records that cannot be read as rows."""

from __future__ import annotations

from enum import StrEnum


class OnMalformed(StrEnum):
    """What happens to a record that cannot be read as a row."""

    KEEP = "keep"
    """It is kept and counted."""
    FAIL = "fail"
    """The job ends, and nothing that depends on the record is published."""
    DROP = "drop"
    """It is left out and counted."""
