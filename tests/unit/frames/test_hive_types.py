from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.errors import ConfigError
from gluepot.frames.schema.glue_types import TIMESTAMP
from gluepot.frames.schema.hive_types import arrow_of_hive, hive_name

SCALARS = st.sampled_from([
    pa.string(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(),
    pa.date32(), TIMESTAMP, pa.binary(), pa.decimal128(38, 18),
])  # fmt: skip
NAMES = st.text("abcxyz_09", min_size=1, max_size=5)


def nested(inner):
    structs = st.dictionaries(NAMES, inner, min_size=1, max_size=3).map(lambda of: pa.struct(list(of.items())))
    lists = inner.map(lambda of: pa.list_(pa.field("item", of)))
    return structs | lists | inner.map(lambda of: pa.map_(pa.string(), of))


@given(st.recursive(SCALARS, nested, max_leaves=6))
def test_a_type_survives_its_name(kind):
    assert arrow_of_hive(hive_name(pa.field("f", kind))) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("BIGINT", pa.int64()),
        ("varchar(20)", pa.string()),
        ("decimal", pa.decimal128(10, 0)),
        (" array < struct< a : int , b : decimal(5,2) > > ", None),
    ],
)
def test_names_are_read_as_hive_writes_them(text, kind):
    nested_kind = pa.list_(pa.field("item", pa.struct([("a", pa.int32()), ("b", pa.decimal128(5, 2))])))
    assert arrow_of_hive(text) == (kind or nested_kind)


@pytest.mark.parametrize("text", ["array<int", "map<int>", "struct<a>", "list<int>", "uniontype"])
def test_what_is_no_type_is_an_error(text):
    with pytest.raises(ConfigError):
        arrow_of_hive(text)
