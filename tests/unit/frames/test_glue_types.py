import pyarrow as pa
import pytest

from gluepot.core.errors import ConfigError
from gluepot.frames.schema import arrow_type, glue_name


@pytest.mark.parametrize(
    "name",
    [
        "string",
        "boolean",
        "byte",
        "short",
        "int",
        "long",
        "float",
        "double",
        "timestamp",
        "date",
        "binary",
        "decimal(12,3)",
    ],
)
def test_a_name_of_glues_comes_back_from_its_arrow_type(name):
    assert glue_name(arrow_type(name)) == name


@pytest.mark.parametrize(
    ("spelling", "arrow"),
    [
        ("BigInt", pa.int64()),
        ("SMALLINT", pa.int16()),
        ("tinyint", pa.int8()),
        ("Integer", pa.int32()),
        ("String", pa.string()),
        ("decimal", pa.decimal128(10, 2)),
        (" Decimal( 5, 1 ) ", pa.decimal128(5, 1)),
    ],
)
def test_hive_names_are_known_in_any_letter_case(spelling, arrow):
    assert arrow_type(spelling) == arrow


@pytest.mark.parametrize(
    ("arrow", "name"),
    [
        (pa.struct([("a", pa.int64())]), "struct"),
        (pa.list_(pa.int64()), "array"),
        (pa.map_(pa.string(), pa.int64()), "map"),
        (pa.null(), "null"),
        (pa.timestamp("ns"), "timestamp"),
    ],
)
def test_arrow_types_have_glues_names(arrow, name):
    assert glue_name(arrow) == name


def test_an_unknown_name_is_refused_with_the_nearest_known_one():
    with pytest.raises(ConfigError, match=r"'strnig' is not known.*Did you mean 'string'"):
        arrow_type("strnig")


@pytest.mark.parametrize("name", ["decimal(39,2)", "decimal(0,0)", "decimal(3,5)", "struct<a:int>", "array"])
def test_types_that_cannot_be_cast_to_are_refused(name):
    with pytest.raises(ConfigError, match="type '"):
        arrow_type(name)


def test_an_arrow_type_that_glue_lacks_is_refused():
    with pytest.raises(ConfigError, match="no type for Arrow's uint8"):
        glue_name(pa.uint8())
