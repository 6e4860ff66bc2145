"""Numbers keep all their digits when other records have another type."""

from __future__ import annotations

import json
from decimal import Decimal
from enum import IntEnum
from unittest.mock import patch

import pyarrow as pa
import pytest

from gluepot.frames.chunk import Chunk, is_choice
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.json_record import dumps, loads
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.rows import rows
from gluepot.frames.schema import align, choice_field, concat, merge_fields, merge_known, observed, unmarked
from gluepot.frames.schema.merge import merge_schemas
from gluepot.frames.transforms.apply_mapping import ApplyMapping
from gluepot.frames.transforms.resolve_choice import ResolveChoice
from tests.unit.files.sink.drifting import Table

ID, OTHER = 1580661436132757507, 1580661436132757509
LONG_OR_DOUBLE = choice_field("v", [pa.field("", pa.int64()), pa.field("", pa.float64())])


@pytest.fixture(params=["kernel", "pyarrow alone"])
def decoder(request):
    if request.param == "kernel":
        yield JsonDecoder()
    else:
        with patch("gluepot.frames.json_decoder.can_read", lambda _: False):
            yield JsonDecoder()


class Size(IntEnum):
    LARGE = 10**9


def test_an_integer_of_a_subclass_is_an_integer():
    batch = batch_from_objects([{"v": Size.LARGE}, {"v": 2}])
    assert batch.to_pylist() == [{"v": 10**9}, {"v": 2}]


def test_a_name_that_is_none_is_refused():
    with pytest.raises(TypeError, match="key None is not a string"):
        batch_from_objects([{None: 1}])


def _read(decoder, *texts):
    return decoder.decode([b'{"v":%s}' % text.encode() for text in texts], range(len(texts)), "s", "0").batch


def _values(batch):
    return [row["v"] for row in rows(Chunk(batch))]


def test_long_ids_keep_their_digits_beside_a_fraction(decoder):
    assert _values(_read(decoder, str(ID), str(OTHER), "0.5")) == [ID, OTHER, 0.5]
    assert decoder.schema.field("v").equals(LONG_OR_DOUBLE, check_metadata=True)


def test_a_fraction_changes_no_id_of_a_later_batch(decoder):
    _read(decoder, "0.5", "1")
    assert decoder.schema.field("v").type == pa.float64()
    assert _values(_read(decoder, str(ID))) == [ID]
    assert _values(_read(decoder, "5", "5.5", str(OTHER))) == [5, 5.5, OTHER]


def test_integers_that_a_double_holds_are_double_beside_fractions(decoder):
    assert _values(_read(decoder, "5", "5.5", str(2**53), str(-(2**53)))) == [5.0, 5.5, 2.0**53, -(2.0**53)]
    assert decoder.schema.field("v").type == pa.float64()


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "9" * 38, "-" + "9" * 38])
def test_integers_beyond_64_bits_are_decimals(decoder, text):
    for _ in range(2):
        assert _values(_read(decoder, text, "null")) == [Decimal(text), None]
    assert decoder.schema.field("v").type == pa.decimal128(38, 0)


def test_integers_of_more_than_38_digits_are_text(decoder):
    assert _values(_read(decoder, "1" + 38 * "0", "7")) == ["1" + 38 * "0", 7]


def test_each_kind_of_number_has_an_alternative(decoder):
    texts = ["7", str(ID), "0.5", str(10**20), str(-(10**20)), "1e3", "null"]
    expected = [7, ID, 0.5, Decimal(10**20), Decimal(-(10**20)), 1000.0, None]
    for _ in range(2):
        assert _values(_read(decoder, *texts)) == expected
    assert [one.name for one in decoder.schema.field("v").type] == ["long", "double", "decimal"]


def test_digits_stay_within_structs_and_lists(decoder):
    texts = [f'{{"n":[{ID}]}}', '{"n":[0.5,null]}']
    assert _values(_read(decoder, *texts)) == [{"n": [ID]}, {"n": [0.5, None]}]


def test_a_number_with_more_digits_than_a_double_is_a_double(decoder):
    assert _values(_read(decoder, "0.1234567890123456789")) == [0.1234567890123456789]


def test_records_in_pieces_keep_the_digits_of_a_piece_that_was_read_before(decoder):
    texts = [str(ID + at) for at in range(40)] + ["0.5"] * 40 + [str(OTHER + at) for at in range(40)]
    _read(decoder, "1")
    assert _values(_read(decoder, *texts)) == [json.loads(text) for text in texts]


def test_python_values_keep_their_digits():
    values = [ID, 0.5, 10**20, 10**38, None]
    assert _values(batch_from_objects([{"v": value} for value in values])) == [
        ID, 0.5, Decimal(10**20), "1" + 38 * "0", None,
    ]  # fmt: skip


def test_documents_are_taken_apart_and_written_with_all_digits():
    text = b'{"a":[99999999999999999999,-9223372036854775809,0.5,"\\u00e9"]}'
    assert loads(dumps(loads(text))) == {"a": [10**20 - 1, -(2**63) - 1, 0.5, "é"]}


def _batch(*values, kind=None):
    return pa.record_batch({"v": pa.array(values, kind)})


def test_schemas_alone_make_no_double_of_longs():
    merged = merge_fields(pa.field("v", pa.int64()), pa.field("v", pa.float64()))
    assert merged.equals(LONG_OR_DOUBLE, check_metadata=True)


@pytest.mark.parametrize(("value", "kind"), [(2**53, pa.float64()), (2**53 + 1, LONG_OR_DOUBLE.type)])
def test_the_merge_of_observed_schemas_depends_on_the_values(value, kind):
    longs, doubles = _batch(value), _batch(0.5)
    for schemas in [(longs, doubles), (doubles, longs), (doubles, doubles, longs)]:
        merged = pa.schema([])
        for one in schemas:
            merged = merge_schemas(merged, observed(one))
        assert unmarked(merged).field("v").type == kind


def test_a_choice_whose_integers_all_fit_a_double_is_a_double():
    batch = align(_batch(5), pa.schema([LONG_OR_DOUBLE]))
    merged = unmarked(merge_schemas(observed(batch), observed(_batch(0.5))))
    assert merged == pa.schema([("v", pa.float64())])
    assert _values(align(batch, merged)) == [5.0]


def test_the_schema_of_a_stream_reads_integers_as_double_until_one_does_not_fit():
    longs, doubles = pa.schema([("v", pa.int64())]), pa.schema([("v", pa.float64())])
    assert merge_known(longs, doubles) == doubles
    assert merge_known(pa.schema([LONG_OR_DOUBLE]), doubles).equals(pa.schema([LONG_OR_DOUBLE]), check_metadata=True)


def test_an_integer_is_never_rounded_to_fit_a_schema():
    with pytest.raises(ValueError, match="would round"):
        align(_batch(ID), pa.schema([("v", pa.float64())]))


def test_values_of_slices_alone_decide():
    sliced = _batch([ID], [5], kind=pa.list_(pa.int64())).slice(1)
    assert concat([sliced, _batch([0.5])]).schema.field("v").type.value_type == pa.float64()


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32()])
@pytest.mark.parametrize("fraction", [pa.float32(), pa.float64()])
def test_small_integers_and_floats_are_double(kind, fraction):
    assert merge_fields(pa.field("v", kind), pa.field("v", fraction)).type == pa.float64()


MIXED = [ID, 0.5, 7, -2.5, 10**20, None]


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("cast:long", [ID, 0, 7, -2, None, None]),
        ("cast:string", [str(ID), "0.5", "7", "-2.5", str(10**20), None]),
        ("cast:double", [float(ID), 0.5, 7.0, -2.5, 1e20, None]),
        ("project:long", [ID, None, 7, None, None, None]),
        ("project:decimal(38,0)", [None, None, None, None, Decimal(10**20), None]),
    ],
)
def test_resolve_choice_applies_to_each_original_value(action, expected):
    batch = batch_from_objects([{"v": value} for value in MIXED])
    assert _values(ResolveChoice([("v", action)]).bound(batch.schema)(Chunk(batch)).batch) == expected


def test_make_cols_and_make_struct_lose_no_number():
    batch = batch_from_objects([{"v": value} for value in MIXED])
    columns = ResolveChoice([("v", "make_cols")]).bound(batch.schema)(Chunk(batch)).batch
    assert columns.to_pydict() == {
        "v_long": [ID, None, 7, None, None, None],
        "v_double": [None, 0.5, None, -2.5, None, None],
        "v_decimal": [None, None, None, None, Decimal(10**20), None],
    }
    struct = ResolveChoice(choice="make_struct").bound(batch.schema)(Chunk(batch)).batch
    assert not is_choice(struct.schema.field(0))
    assert struct.column(0)[0].as_py() == {"long": ID, "double": None, "decimal": None}


@pytest.mark.parametrize("declared", ["long", "double"])
def test_a_mapping_casts_the_original_value(declared):
    batch = batch_from_objects([{"v": ID}, {"v": 2.0}, {"v": 0.5}])
    mapped = ApplyMapping([("v", declared, "v", "string")])(Chunk(batch)).batch
    assert _values(mapped) == [str(ID), "2.0", None if declared == "long" else "0.5"]


@pytest.fixture
def table(tmp_path):
    return Table.of(tmp_path / "table")


def test_tasks_that_disagree_write_doubles_if_all_integers_fit(table):
    table.write([{"id": 1, "v": 5}], [{"id": 2, "v": 0.5}])
    assert table.rows() == [{"id": 1, "v": 5.0}, {"id": 2, "v": 0.5}]


def test_tasks_that_disagree_write_text_if_an_integer_does_not_fit(table):
    table.write([{"id": 1, "v": ID}], [{"id": 2, "v": 0.5}], [{"id": 3, "v": 7}])
    assert table.rows() == [{"id": 1, "v": str(ID)}, {"id": 2, "v": "0.5"}, {"id": 3, "v": "7"}]


@pytest.mark.parametrize("value", [5, ID])
def test_fields_of_structs_agree_among_tasks(table, value):
    table.write([{"id": 1, "s": {"v": value}}], [{"id": 2, "s": {"v": 0.5}}])
    expected = [5.0, 0.5] if value == 5 else [str(ID), "0.5"]
    assert [row["s"]["v"] for row in table.rows()] == expected


def test_an_id_goes_to_its_column_after_a_batch_with_a_fraction(table):
    table.write([{"id": 1, "v": ID}])
    table.write([{"id": 2, "v": OTHER}, {"id": 3, "v": 0.5}])
    table.write([{"id": 4, "v": ID}])
    assert table.rows() == [
        {"id": 1, "v": ID}, {"id": 2, "v": OTHER}, {"id": 3, "v_double": 0.5}, {"id": 4, "v": ID},
    ]  # fmt: skip
