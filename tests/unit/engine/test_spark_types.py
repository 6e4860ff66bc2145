from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import types as T  # noqa: N812

from gluepot.core.errors import ConfigError
from gluepot.engine.spark_types import in_spark_types, refuse_unread, spark_schema

WIDE, NARROW = pa.decimal256(39, 2), pa.decimal256(38, 2)


def around(kind: pa.DataType) -> list[pa.DataType]:
    return [kind, pa.struct([("a", kind)]), pa.list_(pa.struct([("a", kind)])), pa.map_(pa.string(), kind)]


@pytest.mark.parametrize("kind", [*around(WIDE), pa.uint64(), pa.float16(), pa.time32("s")], ids=str)
def test_a_type_that_spark_does_not_have_is_refused_with_column_type_and_a_next_step(kind):
    with pytest.raises(ConfigError, match=r"column 'v' of type .*resolveChoice.*'v', 'cast:string'"):
        spark_schema(in_spark_types(pa.schema([("id", pa.int64()), ("v", kind)])))


@pytest.mark.parametrize(("kind", "wanted"), [*zip(around(NARROW), around(pa.decimal128(38, 2)), strict=True)])
def test_decimals_in_256_bits_that_spark_can_hold_are_sent_in_128_bits(kind, wanted):
    schema = in_spark_types(pa.schema([("v", kind)]))
    assert schema.field("v").type == wanted
    assert "decimal(38,2)" in spark_schema(schema).simpleString()


@pytest.mark.parametrize("kind", [T.YearMonthIntervalType(), T.ArrayType(T.YearMonthIntervalType())])
def test_intervals_of_months_in_a_data_frame_are_refused_with_their_column(kind):
    with pytest.raises(ConfigError, match=r"column 'v' of type .*month.*; cast the column to a string"):
        refuse_unread(T.StructType().add("id", T.LongType()).add("v", kind))
