"""Schemas of chunks in the types of `awsglue.gluetypes`, and back."""

from __future__ import annotations

import pyarrow as pa

from awsglue import gluetypes as g
from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import is_choice
from gluepot.frames.schema import arrow_type, choice_field, glue_name

_BY_NAME: dict[str, type[g.DataType]] = {
    kind.typeName(): kind
    for kind in (
        g.BinaryType, g.BooleanType, g.ByteType, g.DateType, g.DoubleType, g.FloatType, g.IntegerType, g.LongType,
        g.NullType, g.ShortType, g.StringType, g.TimestampType,
    )
}  # fmt: skip


def glue_schema(schema: pa.Schema) -> g.StructType:
    """Return a schema in Glue's types."""
    return g.StructType([g.Field(field.name, _glue_type(field)) for field in schema])


def arrow_schema(schema: g.StructType) -> pa.Schema:
    """Return a schema in Arrow's types.

    Raises:
        ConfigError: the schema is not a struct, or has a type that records cannot have.
    """
    if not isinstance(schema, g.StructType):
        raise ConfigError(f"The schema is {schema!r}; give an awsglue.gluetypes.StructType.")
    return pa.schema([_arrow_field(field.name, field.dataType) for field in schema])


def _glue_type(field: pa.Field) -> g.DataType:
    kind = field.type
    if is_choice(field):
        return g.ChoiceType([_glue_type(one) for one in kind])
    if pa.types.is_struct(kind):
        return g.StructType([g.Field(one.name, _glue_type(one)) for one in kind])
    if pa.types.is_list(kind):
        return g.ArrayType(_glue_type(kind.value_field))
    if pa.types.is_map(kind):
        return g.MapType(_glue_type(kind.item_field))
    if pa.types.is_decimal(kind):
        return g.DecimalType(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return g.TimestampNTZType()
    return _BY_NAME[glue_name(kind)]()


def _arrow_field(name: str, kind: g.DataType) -> pa.Field:
    match kind:
        case g.ChoiceType():
            return choice_field(name, [_arrow_field(name, one) for one in kind.choices.values()])
        case g.StructType():
            return pa.field(name, pa.struct([_arrow_field(one.name, one.dataType) for one in kind]))
        case g.ArrayType():
            return pa.field(name, pa.list_(_arrow_field("item", kind.elementType)))
        case g.MapType():
            return pa.field(name, pa.map_(pa.string(), _arrow_field("value", kind.valueType)))
        case g.DecimalType():
            return pa.field(name, pa.decimal128(kind.precision, kind.scale))
        case g.TimestampNTZType():
            return pa.field(name, pa.timestamp("us"))
        case g.NullType() | g.UnknownType():
            return pa.field(name, pa.null())
        case g.EnumType():
            return pa.field(name, pa.string())
        case g.DataType():
            return pa.field(name, arrow_type(kind.typeName()))
        case _:
            raise ConfigError(f"The type of field '{name}' is {kind!r}; give one of awsglue.gluetypes.")
