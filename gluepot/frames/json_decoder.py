"""Decodes streams of JSON records into chunks, with a schema that only grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from gluepot.frames.chunk import Chunk
from gluepot.frames.json_groups import uniform_groups
from gluepot.frames.json_kernel import KnownRecords, Reading, can_read
from gluepot.frames.json_reader import read_uniform
from gluepot.frames.json_record import read_record
from gluepot.frames.json_screen import screened
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.payloads import Payloads
from gluepot.frames.records import JoinedRecords, join
from gluepot.frames.refusal import Refusal, refused
from gluepot.frames.schema import align, concat, grown

# A chunk that cannot be read at once is read in pieces, so that one odd record slows down only its neighbours.
_PIECE_RECORDS = 512
# How often all records of a chunk are read again with a grown schema, which is faster than to join pieces. A column of
# integers may become double and then a choice.
_REREADS = 2
# Up to this many records are read faster one by one. The kernel stops when it has left out so many odd ones. Where it
# meets more, the number doubles, up to all records of a chunk.
_FEW_RECORDS = 16


class JsonDecoder:
    """Decodes all records, without sampling. In the ordinary case it reads each byte once.

    A field keeps the widest type that it ever had: null, then boolean, long, double, string, struct or list; a choice
    if records disagree. Text stays text, even if it looks like a number or a date. Numbers of a field are long until
    one has a fraction or an exponent; from then on they are double. An integer that a double does not hold exactly
    stays long, and so the field is a choice of both. Integers beyond 64 bits are decimal(38,0), those of more than 38
    digits are text (docs/decisions/0063).

    Args:
        schema: the schema to start from, such as the schema of the stream so far, with types as this class makes them.

    Attributes:
        schema: the merge of everything decoded so far, with fields whose type is still null.
    """

    def __init__(self, schema: pa.Schema | None = None) -> None:
        self.schema = pa.schema([]) if schema is None else schema
        self._known: KnownRecords | None = None
        self._most_odd = _FEW_RECORDS

    def decode(
        self,
        values: Sequence[bytes | None],
        positions: Sequence[int],
        stream: str,
        shard: str,
    ) -> Chunk:
        """Decode records of one shard.

        Args:
            values: payloads, each one JSON object; white space around it is allowed.
            positions: each record's offset.
            stream: topic or stream.
            shard: partition or shard.

        Returns:
            The good records in order, in exactly `self.schema`; the others as errors, in order.
        """
        batch, refusals = self._read(values)
        return Chunk(batch, [refused(refusal, values[i], stream, shard, positions[i]) for i, refusal in refusals])

    def _read(self, values: Sequence[bytes | None]) -> tuple[pa.RecordBatch, list[tuple[int, Refusal]]]:
        """Return the good records, and for each of the others, in order, its index and the reason."""
        records = values if isinstance(values, Payloads) else list(values)
        batches: list[pa.RecordBatch] = []
        refusals: list[tuple[int, Refusal]] = []
        at, rereads = 0, _REREADS
        while at < len(records) or not batches:
            known = self._known_records()
            if known is None:
                batch, refused = self._read_any(list(records[at:]))
                batches.append(align(batch, self.schema))
                refusals += [(at + index, refusal) for index, refusal in refused]
                break
            reading = known.read(records, at, len(records), self._most_odd)
            if len(reading.odd) == self._most_odd:
                self._most_odd = min(2 * self._most_odd, max(len(records), _FEW_RECORDS))
            elif len(reading.odd) <= _FEW_RECORDS:
                self._most_odd = _FEW_RECORDS
            if not reading.odd:
                batches.append(reading.batch)
                break
            batch, refused = self._read_any([records[index] for index in reading.odd])
            if rereads and not self.schema.equals(known.schema, check_metadata=True):
                rereads -= 1
                continue
            refused = [(reading.odd[index], refusal) for index, refusal in refused]
            rows = self._learned(_in_order(reading, at, batch, {index for index, _ in refused}))
            batches.append(align(rows, self.schema))
            refusals += refused
            at = reading.stop
        return batches[0] if len(batches) == 1 else align(self._learned(concat(batches)), self.schema), refusals

    def _known_records(self) -> KnownRecords | None:
        """Return the kernel for the present schema; None if no kernel can read it."""
        if self._known is None or self._known.schema is not self.schema:
            self._known = KnownRecords(self.schema) if can_read(self.schema) else None
        return self._known

    def _read_any(self, values: list[bytes | None]) -> tuple[pa.RecordBatch, list[tuple[int, Refusal]]]:
        records, refusals = screened(values)
        batch, later = self._read_objects(records)
        if later:
            kept = [index for index in range(len(values)) if index not in refusals]
            refusals |= {kept[index]: refusal for index, refusal in later.items()}
        return batch, sorted(refusals.items())

    def _read_objects(self, records: JoinedRecords) -> tuple[pa.RecordBatch, dict[int, Refusal]]:
        batch = None if self._known is not None and len(records) <= _FEW_RECORDS else self._read_at_once(records)
        if batch is not None:
            return self._learned(batch), {}
        if len(records) <= _PIECE_RECORDS:
            return self._read_one_by_one(records)
        batches: list[pa.RecordBatch] = []
        refusals: dict[int, Refusal] = {}
        for start in range(0, len(records), _PIECE_RECORDS):
            batch, refused = self._read_objects(join(records.values[start : start + _PIECE_RECORDS]))
            batches.append(batch)
            refusals |= {start + index: refusal for index, refusal in refused.items()}
        return self._learned(concat(batches)), refusals

    def _read_at_once(self, records: JoinedRecords) -> pa.RecordBatch | None:
        """Return all records, or None if they cannot be read at once."""
        if not len(records):
            return batch_from_objects([])
        groups = uniform_groups(records, self.schema)
        if len(groups) == 1:
            return read_uniform(records, groups[0].schema)
        batches = []
        for group in groups:
            batch = read_uniform(join([records.values[index] for index in group.members]), group.schema)
            if batch is None:
                return None
            batches.append(batch)
        if not batches:
            return None
        return concat(batches).take(np.argsort(np.concatenate([group.members for group in groups])))

    def _read_one_by_one(self, records: JoinedRecords) -> tuple[pa.RecordBatch, dict[int, Refusal]]:
        documents: list[dict[str, Any]] = []
        good: list[bytes] = []
        refusals: dict[int, Refusal] = {}
        for index, value in enumerate(records.values):
            match read_record(value):
                case Refusal() as refusal:
                    refusals[index] = refusal
                case document:
                    documents.append(document)
                    good.append(value)
        batch = self._read_at_once(join(good)) if refusals else None
        return self._learned(batch_from_objects(documents) if batch is None else batch), refusals

    def _learned(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Take in the schema of some rows; they are aligned with it only if they are kept as they were read."""
        if batch.schema.equals(self.schema, check_metadata=True):
            return batch
        merged = grown(self.schema, [batch])
        if not merged.equals(self.schema, check_metadata=True):  # a kernel is kept for as long as its schema
            self.schema = merged
        return batch


def _in_order(reading: Reading, start: int, odd: pa.RecordBatch, refused: set[int]) -> pa.RecordBatch:
    """Return all rows of some records in the order of the records.

    Args:
        reading: what the kernel read.
        start: where it began.
        odd: the rows of the odd records that are not refused.
        refused: indices of the other ones.
    """
    if not odd.num_rows:
        return reading.batch
    numbers = np.delete(np.arange(start, reading.stop), np.array(reading.odd) - start)
    odd_numbers = [index for index in reading.odd if index not in refused]
    return concat([reading.batch, odd]).take(np.argsort(np.concatenate([numbers, odd_numbers])))
