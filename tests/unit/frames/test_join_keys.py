from __future__ import annotations

import pyarrow as pa
import pytest

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import CHOICE
from gluepot.frames.transforms.join_keys import incomparable, key_field

MIXED = pa.field("k", pa.struct([("long", pa.int64()), ("string", pa.string())]), metadata=CHOICE)
SCHEMA = pa.schema([MIXED, ("n", pa.int64()), ("s", pa.struct([("x", pa.string())]))])


def test_a_key_is_found_at_any_depth_and_inside_of_a_choice():
    assert [key_field(SCHEMA, path).type for path in ("n", "s.x", "k.long")] == [pa.int64(), pa.string(), pa.int64()]


@pytest.mark.parametrize(
    ("path", "held"), [("z", "there are k, n, s"), ("s.z", "there are x in 's'"), ("n.z", "there are none in 'n'")]
)
def test_a_key_that_is_missing_is_named_with_the_fields_next_to_it(path, held):
    with pytest.raises(ConfigError, match=f"key '{path}' is not a field; {held}"):
        key_field(SCHEMA, path)


def test_keys_that_cannot_be_compared_are_named_with_their_types_and_a_next_step():
    said = str(incomparable(SCHEMA, ["k", "n"], SCHEMA, ["n", "s"]))
    assert "'k' (a choice of long, string) and 'n' (long), 'n' (long) and 's' (struct)" in said
    assert "resolveChoice" in said
