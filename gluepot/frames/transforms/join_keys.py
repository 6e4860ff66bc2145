"""Keys of joins: where they are in a schema, and what is said of those that cannot be compared. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import is_choice
from gluepot.frames.schema.glue_types import glue_name
from gluepot.frames.transforms.paths import parse_path


def key_field(schema: pa.Schema, path: str) -> pa.Field:
    """Return the field that a key names, at any depth of structs.

    Raises:
        ConfigError: there is no such field.
    """
    fields, place, found = list(schema), "", None
    for name in parse_path(path):
        by_name = {field.name: field for field in fields}
        if name not in by_name:
            held = ", ".join(by_name) or "none"
            raise ConfigError(f"key '{path}' is not a field; there are {held}{place}.")
        found = by_name[name]
        fields = list(found.type) if pa.types.is_struct(found.type) else []
        place = f" in '{name}'"
    assert found is not None
    return found


def incomparable(left: pa.Schema, keys: Sequence[str], right: pa.Schema, other_keys: Sequence[str]) -> ConfigError:
    """Return the error of keys that Spark does not compare, because a type is a choice or their types differ."""
    pairs = [
        f"'{key}' ({_type_name(key_field(left, key))}) and '{other}' ({_type_name(key_field(right, other))})"
        for key, other in zip(keys, other_keys, strict=True)
    ]
    return ConfigError(
        f"The join cannot compare the keys {', '.join(pairs)}; give both sides of each pair one type first, with"
        " resolveChoice if a column has several types, such as ('key', 'cast:string'), otherwise with ApplyMapping."
    )


def _type_name(field: pa.Field) -> str:
    if is_choice(field):
        return f"a choice of {', '.join(side.name for side in field.type)}"
    return glue_name(field.type)
