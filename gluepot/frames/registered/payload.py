"""Streams of records that name their schemas, each read by the schema that it was written with.

A schema is looked up when a record first names it, so a writer may begin to use another one at any time. Without
declared columns, the columns are the merge of those of all schemas met so far, as for JSON that is inferred. What a
record becomes depends on the record and its schema alone, and the schema behind an id never changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from gluepot.frames.chunk import Chunk, ErrorRecord, is_choice
from gluepot.frames.columns import (
    Column,
    batch_of,
    children_of,
    columns_of,
    items_of,
    map_values_of,
    struct_column,
    validity,
    with_items,
    with_map_values,
)
from gluepot.frames.declared.columns_fit import fitted
from gluepot.frames.refusal import Refusal, refused
from gluepot.frames.registered.headers import Header
from gluepot.frames.registered.written import Part, Reading, Wanted, WrittenSchema, decoded, reading_of
from gluepot.frames.schema import align, grown
from gluepot.frames.transforms.choices import cast


class SchemaRegistry(Protocol):
    """Where schemas are. Picklable and small; a worker that has it looks schemas up by itself and remembers them."""

    @property
    def header(self) -> Header:
        """What its serializers write before a record."""

    def schema(self, schema_id: str) -> WrittenSchema | None:
        """Return a schema by its id; None if the registry has no such schema.

        Raises:
            TransientError: the registry was away for longer than its deadline.
            ConfigError: the registry refuses the credentials.
        """


@dataclass(frozen=True)
class RegisteredPayload:
    """Records whose columns come from their schemas: a `GrowingPayload`."""

    registry: SchemaRegistry

    def decoder(self, known: pa.Schema | None = None) -> RegisteredDecoder:
        """Return a new decoder that begins with the columns known so far."""
        return RegisteredDecoder(self.registry, None, known)


@dataclass(frozen=True)
class DeclaredRegistered:
    """Records of a registry read into the columns that a script declares: a `DeclaredPayload`.

    Records of Avro are resolved to the reader's schema by Avro's rules if there is one. Otherwise fields are matched
    by their names, those not declared disappear, missing ones are null, and so are values that do not fit.
    """

    registry: SchemaRegistry
    wanted: Wanted

    @property
    def schema(self) -> pa.Schema:
        """See `DeclaredPayload.schema`."""
        return self.wanted.schema

    def decoder(self) -> RegisteredDecoder:
        """See `DeclaredPayload.decoder`."""
        return RegisteredDecoder(self.registry, self.wanted, self.wanted.schema)


class RegisteredDecoder:
    """A `RecordDecoder` for records of a registry; see `RegisteredPayload` and `DeclaredRegistered`.

    Attributes:
        schema: the columns of the chunks so far.
    """

    def __init__(self, registry: SchemaRegistry, wanted: Wanted | None, known: pa.Schema | None) -> None:
        self.schema = pa.schema([]) if known is None else known
        self._registry = registry
        self._wanted = wanted
        self._readings: dict[str, Reading | Refusal] = {}
        self._misfits = Counter[str]()

    def decode(self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str) -> Chunk:
        """See `RecordDecoder.decode`."""
        errors: dict[int, ErrorRecord] = {}
        self._misfits.clear()

        def refuse(index: int, refusal: Refusal) -> None:
            errors[index] = refused(refusal, values[index], stream, shard, positions[index])

        good: list[tuple[Sequence[int], pa.RecordBatch]] = []
        for schema_id, (indices, payloads) in self._by_schema(values, refuse).items():
            reading = self._reading(schema_id)
            if isinstance(reading, Refusal):
                for index in indices:
                    refuse(index, reading)
                continue
            for part in reading.parts(payloads):
                if not isinstance(part, Part):
                    refuse(indices[part[0]], part[1])
                    continue
                chunk = decoded(part, stream, shard)
                of_record = [indices[at] for at in part.indices]
                bad = {int(error.at.position or 0): error for error in chunk.errors}
                for at, error in bad.items():
                    refuse(of_record[at], Refusal(error.reason, error.message))
                rows = [index for at, index in enumerate(of_record) if at not in bad] if bad else of_record
                good.append((rows, self._in_columns(chunk.batch)))
                self._misfits.update(chunk.misfits)
        told = [errors[index] for index in sorted(errors)]
        return Chunk(self._joined(good), told, misfits=dict(+self._misfits))

    def _by_schema(self, values: Sequence[bytes | None], refuse: _Refuse) -> dict[str, tuple[list[int], list[bytes]]]:
        found: dict[str, tuple[list[int], list[bytes]]] = {}
        framed = self._registry.header.framed
        for index, value in enumerate(values):
            record = framed(value)
            if isinstance(record, Refusal):
                refuse(index, record)
                continue
            indices, payloads = found.setdefault(record.id, ([], []))
            indices.append(index)
            payloads.append(record.payload)
        return found

    def _reading(self, schema_id: str) -> Reading | Refusal:
        if schema_id not in self._readings:
            written = self._registry.schema(schema_id)
            if written is None:
                return Refusal("unknown_schema", f"The record names the schema {schema_id}, which the registry lacks.")
            self._readings[schema_id] = reading_of(written, self._registry.header, self._wanted)
        return self._readings[schema_id]

    def _in_columns(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._wanted is None:
            return batch
        if batch.schema.equals(self.schema):
            return batch
        declared = pa.field("", pa.struct(list(self.schema)))
        found = struct_column("", columns_of(batch), batch.num_rows)
        return batch_of(
            children_of(fitted(_completed(found, declared, self._misfits), declared, self._misfits)), batch.num_rows
        )

    def _joined(self, good: Sequence[tuple[Sequence[int], pa.RecordBatch]]) -> pa.RecordBatch:
        """Return the rows in the order of their records, in the columns known by now."""
        if self._wanted is None:
            self.schema = grown(self.schema, [batch for _, batch in good])
        batches = [align(batch, self.schema) for _, batch in good]
        if not batches:
            return pa.RecordBatch.from_pylist([], schema=self.schema)
        if len(batches) == 1:
            return batches[0]
        order = np.argsort(np.concatenate([np.asarray(indices, np.int64) for indices, _ in good]))
        return pa.concat_batches(batches).take(pa.array(order))


class _Refuse(Protocol):
    def __call__(self, index: int, refusal: Refusal) -> None: ...


def _completed(found: Column, declared: pa.Field, misfits: Counter[str]) -> Column:
    """Return a column with all declared fields inside it, in a type that can be taken to the declared one."""
    kind, rows = declared.type, len(found.array)
    if is_choice(found.field):
        return _chosen(found, declared, misfits)
    if pa.types.is_nested(kind) and found.field.type.id != kind.id:
        return Column(declared, pa.nulls(rows, kind))
    if pa.types.is_struct(kind):
        by_name = {one.field.name: one for one in children_of(found)}
        children = [
            _completed(by_name[one.name], one, misfits) if one.name in by_name else _nulls(one, rows) for one in kind
        ]
        return struct_column(found.field.name, children, rows, validity(found.array))
    if pa.types.is_list(kind):
        return with_items(found, _completed(items_of(found), kind.value_field, misfits))
    if pa.types.is_map(kind):
        return with_map_values(found, _completed(map_values_of(found), kind.item_field, misfits))
    return found


def _chosen(found: Column, declared: pa.Field, misfits: Counter[str]) -> Column:
    """Return the values of a choice in the declared type; null, and counted, for those that do not fit."""
    name, kind = found.field.name, declared.type
    if pa.types.is_nested(kind):
        sides = {one.field.type.id: one for one in children_of(found)}
        side = sides.get(kind.id, _nulls(declared, len(found.array))).renamed(name)
        misfits[name] += side.array.null_count - found.array.null_count
        return _completed(side, declared, misfits)
    taken = cast(found, kind)
    misfits[name] += taken.array.null_count - found.array.null_count
    return taken


def _nulls(field: pa.Field, rows: int) -> Column:
    return Column(field, pa.nulls(rows, field.type))
