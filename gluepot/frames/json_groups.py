"""Splits records of a stream with choices into groups that agree on the type of every field.

pyarrow.json reads one type per field. If the stream's schema holds a choice, the first byte after the key shows which
type a record has. This is a guess, because the key may also stand elsewhere in the record. A wrong guess only costs
time: reading with the wrong type fails, and the records are then read one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.chunk import is_choice
from gluepot.frames.records import JoinedRecords
from gluepot.frames.schema.merge import family

_FAMILIES = ("", "string", "number", "boolean", "struct", "array")
_FIRST_BYTES = {b'"': "string", b"-0123456789": "number", b"tf": "boolean", b"{": "struct", b"[": "array"}
_CODES = np.zeros(256, np.int64)
for _bytes, _family in _FIRST_BYTES.items():
    _CODES[list(_bytes)] = _FAMILIES.index(_family)
_MAX_CHOICES = 16
_MAX_GROUPS = 32

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Records that probably agree on all types.

    Args:
        members: indices of the records, ascending.
        schema: the types to read them with, without choices.
    """

    members: npt.NDArray[np.int64]
    schema: pa.Schema


def uniform_groups(records: JoinedRecords, known: pa.Schema) -> Sequence[Group]:
    """Split the records by the types they have where `known` has a choice; none when there would be too many groups."""
    choices = list(_choices(known, ()))
    everyone = np.arange(len(records))
    if not choices:
        return [Group(everyone, _schema_for(known, {}))]
    if len(choices) > _MAX_CHOICES:
        return []
    codes = np.column_stack([_codes_after(records, path[-1]) for path in choices])
    combinations, group_of = np.unique(codes, axis=0, return_inverse=True)
    if len(combinations) > _MAX_GROUPS:
        return []
    return [
        Group(
            np.flatnonzero(group_of.ravel() == number),
            _schema_for(known, {path: _FAMILIES[code] for path, code in zip(choices, combination, strict=True)}),
        )
        for number, combination in enumerate(combinations)
    ]


def _choices(fields: Sequence[pa.Field], above: Path) -> Iterator[Path]:
    """Yield the paths of choices that lie at the top or only within structs."""
    for field in fields:
        path = (*above, field.name)
        structs = [field]
        if is_choice(field):
            yield path
            structs = [one for one in field.type if pa.types.is_struct(one.type)]
        for struct in structs:
            if pa.types.is_struct(struct.type):
                yield from _choices(list(struct.type), path)


def _codes_after(records: JoinedRecords, key: str) -> npt.NDArray[np.int64]:
    """Return the number of the family of each record's value for `key`; one without gets the most frequent number."""
    codes, pattern = records.codes, json.dumps(key, ensure_ascii=False).encode() + b":"
    offsets = pa.py_buffer(np.append(records.starts, len(codes)))
    texts = pa.Array.from_buffers(pa.large_binary(), len(records), [None, offsets, pa.py_buffer(records.text)])
    found = pc.find_substring(texts, pattern).to_numpy(zero_copy_only=False)
    at = np.minimum(records.starts + found + len(pattern), len(codes) - 1)
    at += codes[at] == ord(" ")  # the one space that many writers put after the colon
    families = np.where(found < 0, 0, _CODES[codes[np.minimum(at, len(codes) - 1)]])
    most_frequent = int(np.bincount(families[families > 0], minlength=1).argmax())
    return np.where(families == 0, most_frequent, families)


def _schema_for(known: pa.Schema, families: Mapping[Path, str]) -> pa.Schema:
    return pa.schema(_told(list(known), families, ()))


def _told(fields: Sequence[pa.Field], families: Mapping[Path, str], above: Path) -> list[pa.Field]:
    return [told for field in fields if (told := _told_field(field, families, (*above, field.name))) is not None]


def _told_field(field: pa.Field, families: Mapping[Path, str], path: Path) -> pa.Field | None:
    """Return the field with one type, as pyarrow.json needs it; None if the type is unknown, so pyarrow infers it."""
    if is_choice(field):
        fitting = [one for one in field.type if family(one.type) == families.get(path)]
        return _told_field(fitting[0].with_name(field.name), families, path) if fitting else None
    kind = field.type
    if pa.types.is_null(kind):
        return None
    if pa.types.is_struct(kind):
        return pa.field(field.name, pa.struct(_told(list(kind), families, path)))
    if pa.types.is_list(kind):
        item = _told_field(kind.value_field, families, (*path, "[]"))
        return None if item is None else pa.field(field.name, pa.list_(item))
    return field
