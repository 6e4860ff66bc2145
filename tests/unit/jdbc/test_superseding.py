"""What becomes of the rows of an earlier try of a write to a database when another try has other rows."""

from __future__ import annotations

import pytest

from gluepot.connectors.jdbc.publishing import Superseding, superseding
from gluepot.connectors.jdbc.target import Mode

APPEND, UPSERT, OVERWRITE = Mode.APPEND, Mode.UPSERT, Mode.OVERWRITE


@pytest.mark.parametrize(
    ("before", "now", "rows", "fate"),
    [
        (APPEND, APPEND, 3, Superseding.TAKE_BACK),
        (APPEND, UPSERT, 3, Superseding.TAKE_BACK),
        (APPEND, OVERWRITE, 3, Superseding.LEAVE),
        (UPSERT, UPSERT, 3, Superseding.UPSERT_AGAIN),
        (UPSERT, APPEND, 3, Superseding.IMPOSSIBLE),
        (UPSERT, OVERWRITE, 3, Superseding.LEAVE),
        (OVERWRITE, OVERWRITE, 3, Superseding.LEAVE),
        (OVERWRITE, APPEND, 3, Superseding.IMPOSSIBLE),
        (OVERWRITE, UPSERT, 3, Superseding.IMPOSSIBLE),
        (APPEND, APPEND, 0, Superseding.LEAVE),
        (UPSERT, APPEND, 0, Superseding.LEAVE),
        (OVERWRITE, APPEND, 0, Superseding.IMPOSSIBLE),
    ],
)
def test_rows_are_taken_back_replaced_or_refused(before, now, rows, fate):
    assert superseding(before, now, rows) is fate
