"""Formats a schema as the tree that `printSchema` prints (docs/glue 6.2)."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from gluepot.frames.chunk import is_choice
from gluepot.frames.schema import glue_name


def tree_text(schema: pa.Schema) -> str:
    """Return `root` and one line per field, alternative and element."""
    return "\n".join(["root", *(line for one in schema for line in _lines(one, ""))])


def _lines(one: pa.Field, indent: str) -> Iterator[str]:
    kind = one.type
    if is_choice(one):
        yield f"{indent}|-- {one.name}: choice"
        for alternative in kind:
            yield from _alternative(alternative, indent + "|    ")
    else:
        yield f"{indent}|-- {one.name}: {_short(kind)}"
        yield from _inner(kind, indent + "|    ")


def _alternative(one: pa.Field, indent: str) -> Iterator[str]:
    yield f"{indent}|-- {_short(one.type)}"
    yield from _inner(one.type, indent + "|    ")


def _inner(kind: pa.DataType, indent: str) -> Iterator[str]:
    if pa.types.is_struct(kind):
        for child in kind:
            yield from _lines(child, indent)
    elif pa.types.is_list(kind):
        yield from _lines(kind.value_field.with_name("element"), indent)


def _short(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        return "struct"
    if pa.types.is_list(kind):
        return "array"
    return glue_name(kind)
