from __future__ import annotations

import pytest

from gluepot.frames.chunk import CallSite
from gluepot.frames.transforms import ApplyMapping, DropFields, FilterRows, ReadTexts, SelectFields, Stage
from gluepot.frames.transforms.needed_columns import needed_columns

CHOOSE = SelectFields(["A.b", "`c.d`"])


@pytest.mark.parametrize(
    ("steps", "needed"),
    [
        ([], None),
        ([CHOOSE], {"a", "c.d"}),
        ([Stage(CHOOSE, CallSite())], {"a", "c.d"}),
        ([ReadTexts({}), ApplyMapping((("x.y", "long", "z", "long"),))], {"x"}),
        ([FilterRows(bool), CHOOSE], None),
        ([DropFields(["a"])], None),
    ],
)
def test_the_first_step_that_chooses_tells_the_columns(steps, needed):
    assert needed_columns(steps) == needed
