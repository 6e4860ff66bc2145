"""Which types a JSON payload can be declared to have."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from gluepot.core.errors import ConfigError

_SCALARS: Sequence[Callable[[pa.DataType], bool]] = (
    pa.types.is_string, pa.types.is_boolean, pa.types.is_signed_integer, pa.types.is_floating, pa.types.is_decimal128,
    pa.types.is_date32, pa.types.is_timestamp, pa.types.is_binary,
)  # fmt: skip


def is_scalar(kind: pa.DataType) -> bool:
    """Tell whether a type is one of the flat ones that text can be read into."""
    return any(is_kind(kind) for is_kind in _SCALARS)


def readable(schema: pa.Schema) -> pa.Schema:
    """Return the schema with everything in it nullable, as Spark's `from_json` makes it.

    Raises:
        ConfigError: a type that JSON cannot be read into, a map with keys other than text, or a name given twice.
    """
    return pa.schema(list(_struct("the schema", list(schema))))


def _struct(path: str, fields: Sequence[pa.Field]) -> pa.StructType:
    names = [field.name for field in fields]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"The schema has field {twice!r} twice in {path}; remove one of them.")
    return pa.struct([pa.field(field.name, _nullable(field.name, field.type)) for field in fields])


def _nullable(path: str, kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return _struct(path, list(kind))
    if pa.types.is_list(kind):
        return pa.list_(_nullable(path, kind.value_type))
    if pa.types.is_map(kind):
        if not pa.types.is_string(kind.key_type):
            raise ConfigError(f"Field {path} of the schema is a map with keys of {kind.key_type}; declare STRING keys.")
        return pa.map_(pa.string(), _nullable(path, kind.item_type))
    if is_scalar(kind):
        return kind
    raise ConfigError(f"Field {path} of the schema is a {kind}, which JSON cannot be read into; declare a STRING.")
