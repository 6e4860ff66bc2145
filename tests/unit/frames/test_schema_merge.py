import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.frames.chunk import is_choice
from gluepot.frames.schema import choice_field, merge_fields, merge_schemas

SCALARS = st.sampled_from(
    [
        pa.null(),
        pa.bool_(),
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.float32(),
        pa.float64(),
        pa.string(),
        pa.binary(),
        pa.date32(),
        pa.timestamp("s"),
        pa.timestamp("us", tz="UTC"),
        pa.timestamp("ms", tz="Europe/Berlin"),
        pa.decimal128(5, 2),
        pa.decimal128(20, 10),
        pa.decimal128(38, 1),
    ],
)


def _field(kind):
    return pa.field("f", kind)


def _struct(fields):
    return _field(pa.struct([field.with_name(name) for name, field in fields.items()]))


def _choice(fields):
    merged = fields[0]
    for field in fields[1:]:
        merged = merge_fields(merged, field)
    return merged


FIELDS = st.recursive(
    SCALARS.map(_field),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(_struct),
        inner.map(lambda item: _field(pa.list_(item.with_name("item")))),
        inner.map(lambda value: _field(pa.map_(pa.string(), value.with_name("value")))),
        st.lists(inner.filter(lambda field: not pa.types.is_null(field.type)), min_size=2, max_size=3).map(_choice),
    ),
    max_leaves=5,
)


def _regardless_of_order(field):
    """A field as plain values in which the order of struct fields does not count."""
    kind = field.type
    if pa.types.is_struct(kind):
        return (is_choice(field), frozenset((child.name, _regardless_of_order(child)) for child in kind))
    if pa.types.is_list(kind):
        return ("list", _regardless_of_order(kind.value_field))
    if pa.types.is_map(kind):
        return ("map", _regardless_of_order(kind.key_field), _regardless_of_order(kind.item_field))
    return kind


@given(FIELDS)
def test_a_field_merged_with_itself_stays_as_it_is(field):
    assert merge_fields(field, field).equals(field, check_metadata=True)


@given(FIELDS, FIELDS)
def test_what_came_first_decides_nothing_but_the_order(left, right):
    assert _regardless_of_order(merge_fields(left, right)) == _regardless_of_order(merge_fields(right, left))


@given(FIELDS, FIELDS, FIELDS)
def test_how_fields_are_grouped_decides_nothing(one, two, three):
    left = merge_fields(merge_fields(one, two), three)
    assert left.equals(merge_fields(one, merge_fields(two, three)), check_metadata=True)


@given(FIELDS)
def test_null_gives_way_to_anything(field):
    null = _field(pa.null())
    assert merge_fields(null, field).equals(field, check_metadata=True)
    assert merge_fields(field, null).equals(field, check_metadata=True)


@pytest.mark.parametrize(
    ("left", "right", "merged"),
    [
        (pa.int32(), pa.int64(), pa.int64()),
        (pa.int32(), pa.float64(), pa.float64()),
        (pa.float32(), pa.int8(), pa.float64()),
        (pa.decimal128(5, 2), pa.decimal128(6, 4), pa.decimal128(7, 4)),
        (pa.decimal128(38, 0), pa.decimal128(38, 10), pa.decimal256(48, 10)),
        (pa.timestamp("s"), pa.timestamp("us", tz="UTC"), pa.timestamp("us", tz="UTC")),
    ],
)
def test_types_of_one_family_widen(left, right, merged):
    assert merge_fields(_field(left), _field(right)) == _field(merged)


def test_other_pairs_become_a_choice_named_by_glue_types():
    merged = merge_fields(_field(pa.string()), _field(pa.int64()))
    assert is_choice(merged)
    assert merged.type == pa.struct([("long", pa.int64()), ("string", pa.string())])


def test_a_choice_widens_the_alternative_of_the_same_family():
    choice = choice_field("f", [_field(pa.int32()), _field(pa.string())])
    assert merge_fields(choice, _field(pa.float64())).type == pa.struct(
        [("double", pa.float64()), ("string", pa.string())]
    )


def test_a_users_struct_of_the_same_shape_is_no_choice():
    lookalike = _field(pa.struct([("long", pa.int64()), ("string", pa.string())]))
    choice = choice_field("f", [_field(pa.int64()), _field(pa.string())])
    assert merge_fields(choice, lookalike).type == pa.struct(
        [("long", pa.int64()), ("string", pa.string()), ("struct", lookalike.type)],
    )


def test_fields_keep_the_order_in_which_they_were_first_seen():
    merged = merge_schemas(
        pa.schema([("b", pa.int64()), ("a", pa.int64())]), pa.schema([("c", pa.int64()), ("a", pa.int64())])
    )
    assert merged.names == ["b", "a", "c"]
