"""The history of a table's columns: the batches in which they appeared or changed their types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from gluepot.commit.record import CommitRecord
from gluepot.connectors.ports import CommitKey
from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import is_choice
from gluepot.frames.schema import glue_name


@dataclass(frozen=True, slots=True)
class TypeSeen:
    """A batch in which a column has another type than in the last batch before it that has the column.

    Args:
        type: name of the type in Glue.
        key: commit key of the write.
        committed_at_epoch_ms: when it was committed; 0 if unknown.
    """

    type: str
    key: CommitKey
    committed_at_epoch_ms: int


@dataclass(frozen=True, slots=True)
class ColumnHistory:
    """One column.

    Args:
        name: name in the files.
        seen: its types; the first is that of the batch in which the column appeared.
    """

    name: str
    seen: Sequence[TypeSeen]


def in_time_order(commits: Iterable[CommitRecord]) -> list[CommitRecord]:
    """Return commits in the order of their times; commits without times, or with equal ones, by query and batch."""
    return sorted(
        commits,
        key=lambda commit: (
            commit.committed_at_epoch_ms,
            commit.key.query_id,
            commit.key.batch_id,
            commit.key.ctx,
            commit.generation,
        ),
    )


def column_histories(commits: Iterable[CommitRecord]) -> list[ColumnHistory]:
    """Return every column's history, in the order in which the columns appeared.

    A column appears with its first value; before that it has no type.

    Args:
        commits: commits in time order.
    """
    types: dict[bytes, dict[str, str]] = {}
    seen: dict[str, list[TypeSeen]] = {}
    for commit in commits:
        if commit.schema is None:
            continue
        if commit.schema not in types:
            types[commit.schema] = _types(commit.schema)
        for name, kind in types[commit.schema].items():
            so_far = seen.setdefault(name, [])
            if not so_far or so_far[-1].type != kind:
                so_far.append(TypeSeen(kind, commit.key, commit.committed_at_epoch_ms))
    return [ColumnHistory(name, so_far) for name, so_far in seen.items()]


def type_text(field: pa.Field) -> str:
    """Return Glue's name of a type, including nested types: `array<struct<a:long>>`, `choice<long,string>`."""
    kind = field.type
    if is_choice(field):
        return f"choice<{','.join(type_text(one) for one in kind)}>"
    if pa.types.is_struct(kind):
        return f"struct<{','.join(f'{one.name}:{type_text(one)}' for one in kind)}>"
    if pa.types.is_map(kind):
        return f"map<{type_text(kind.key_field)},{type_text(kind.item_field)}>"
    if pa.types.is_list(kind):
        return f"array<{type_text(kind.value_field)}>"
    try:
        return glue_name(kind)
    except ConfigError:
        return str(kind)  # Glue has no such type, so use Arrow's name


def _types(schema: bytes) -> dict[str, str]:
    return {
        field.name: type_text(field)
        for field in pa.ipc.read_schema(pa.py_buffer(schema))
        if not pa.types.is_null(field.type)
    }
