import pyarrow as pa
import pytest

from awsglue.calls import Call, called
from awsglue.glue_schema import arrow_schema, glue_schema
from awsglue.gluetypes import (
    ArrayType,
    ChoiceType,
    DecimalType,
    Field,
    IntegerType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    mergeDataTypes,
)
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.engine.execute import ErrorCounts
from gluepot.frames.objects import batch_from_objects


def test_a_schema_is_the_same_there_and_back():
    batch = batch_from_objects([{"a": 1, "s": {"l": [1, "x"]}, "n": None}, {"a": "x"}])
    further = pa.schema(
        [
            ("m", pa.map_(pa.string(), pa.int32())),
            ("d", pa.decimal128(5, 1)),
            ("t", pa.timestamp("us", "UTC")),
            ("w", pa.timestamp("us")),
        ]
    )
    schema = pa.schema([*batch.schema, *further])

    told = glue_schema(schema)

    assert arrow_schema(told).equals(schema, check_metadata=True)
    assert told.getField("a").dataType == ChoiceType([LongType(), StringType()])
    assert told.getField("s").dataType == StructType([Field("l", ArrayType(ChoiceType([LongType(), StringType()])))])
    assert [field.dataType for field in told][2:] == [
        NullType(),
        MapType(IntegerType()),
        DecimalType(5, 1),
        TimestampType(),
        TimestampNTZType(),
    ]


def test_what_is_no_schema_is_refused():
    with pytest.raises(ConfigError, match="StructType"):
        arrow_schema("a int")


@pytest.mark.parametrize(
    ("left", "right", "merged"),
    [
        (LongType(), LongType(), LongType()),
        (NullType(), LongType(), LongType()),
        (LongType(), StringType(), ChoiceType([LongType(), StringType()])),
        (ChoiceType([LongType(), StringType()]), StringType(), ChoiceType([LongType(), StringType()])),
        (ArrayType(LongType()), ArrayType(StringType()), ArrayType(ChoiceType([LongType(), StringType()]))),
        (MapType(LongType()), MapType(NullType()), MapType(LongType())),
        (
            StructType([Field("a", LongType())]),
            StructType([Field("b", LongType()), Field("a", StringType())]),
            StructType([Field("a", ChoiceType([LongType(), StringType()])), Field("b", LongType())]),
        ),
    ],
)
def test_types_merge_field_by_field_and_else_into_a_choice(left, right, merged):
    assert mergeDataTypes(left, right) == merged


def test_a_choice_has_no_two_types_of_one_name():
    with pytest.raises(ValueError, match="long already"):
        ChoiceType([LongType()]).add(LongType())


def test_types_tell_themselves_as_plain_values():
    assert StructType([Field("a", DecimalType())]).jsonValue() == {
        "dataType": "struct",
        "properties": {},
        "fields": [
            {
                "name": "a",
                "type": {"dataType": "decimal", "properties": {}, "precision": 10, "scale": 2},
                "properties": {},
            }
        ],
    }
    assert (IntegerType.typeName(), LongType().typeName()) == ("int", "long")


def test_a_field_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(KeyError, match="no field 'b'; there are a"):
        StructType([Field("a", LongType())]).getField("b")


@pytest.mark.parametrize(("stage", "total"), [(0, 0), (2, 0), (0, 5), (3, 9)])
def test_as_many_errors_as_a_threshold_says_are_allowed_and_zero_is_any_number(stage, total):
    Call(stage_threshold=stage, total_threshold=total).check(ErrorCounts(2, 5))


@pytest.mark.parametrize(("stage", "total", "named"), [(1, 0, "stageThreshold"), (0, 4, "totalThreshold")])
def test_one_error_more_is_too_many(stage, total, named):
    with pytest.raises(PermanentError, match=f"{named} allows"):
        Call("ctx", stage_threshold=stage, total_threshold=total).check(ErrorCounts(2, 5))


def test_a_call_knows_the_line_it_was_made_in():
    assert "test_gluetypes.py" in called("", None, 0, 0).callsite.site
