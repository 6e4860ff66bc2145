"""A compiled consumer, if it was built: payloads go from librdkafka into one buffer (docs/decisions/0053)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, cimpl

from gluepot.connectors.kafka.client import needs_callbacks
from gluepot.connectors.kafka.consumers import CONSUMER_DEFAULTS, Notice
from gluepot.frames.payloads import payloads
from gluepot.frames.sizes import memory_bytes

try:
    _compiled: Any = import_module("gluepot.connectors.kafka._consumer")
except ImportError:  # built without a C compiler; confluent-kafka's own consumer reads
    _compiled = None

IS_COMPILED = _compiled is not None


@dataclass(frozen=True, slots=True)
class CompactRecords:
    """`Records` whose payloads lie in one buffer.

    Args:
        array: the payloads, `large_binary`; null where a record has only a key.
        positions: the offsets.
        partitions: see `Records`.
        is_ascending: see `Records`.
        epochs_ms: see `Records`.
    """

    array: pa.Array
    positions: Sequence[int]
    partitions: frozenset[int]
    is_ascending: bool
    epochs_ms: pa.Array

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def first(self) -> int:
        """See `Records`."""
        return self.positions[0]

    @property
    def last(self) -> int:
        """See `Records`."""
        return self.positions[-1]

    @property
    def mean_bytes(self) -> int:
        """See `Records`."""
        return max(1, memory_bytes(self.array) // len(self.array))

    @property
    def values(self) -> Sequence[bytes | None]:
        """See `Records`."""
        return payloads(self.array)

    @property
    def newest_epoch_ms(self) -> int:
        """See `Records`."""
        return int(self.epochs_ms[-1].as_py())

    def cut(self, end: int) -> tuple[CompactRecords | None, CompactRecords | None]:
        """See `Records`."""
        at = bisect_left(self.positions, end)
        return self._part(0, at), self._part(at, len(self))

    def _part(self, start: int, stop: int) -> CompactRecords | None:
        if start == stop:
            return None
        some = slice(start, stop)
        return replace(self, array=self.array[some], positions=self.positions[some], epochs_ms=self.epochs_ms[some])


class CompiledConsumer:
    """A `Consumer` without an object for each record. It has no keys and no headers.

    Args:
        client: librdkafka's properties; `can_serve` must be true of them.

    Raises:
        KafkaException: librdkafka does not know a property, or refuses its value.
    """

    def __init__(self, client: Mapping[str, Any]) -> None:
        properties = {name: _text(value) for name, value in {**CONSUMER_DEFAULTS, **client}.items()}
        # The library through which librdkafka is found: confluent-kafka's own module depends on it.
        try:
            self._consumer = _compiled.open(cimpl.__file__, properties)
        except ValueError as refused:
            raise KafkaException(KafkaError(KafkaError._INVALID_ARG, str(refused))) from refused  # noqa: SLF001

    def assign(self, topic: str, partition: int, start: int) -> None:
        """See `Consumer`."""
        self._assign(topic, partition, start)

    def unassign(self) -> None:
        """See `Consumer`."""
        self._assign()

    def _assign(self, *where: object) -> None:
        if code := _compiled.assign(self._consumer, *where):
            raise KafkaException(KafkaError(code))

    def take(self, most: int, secs: float) -> tuple[CompactRecords | None, Sequence[Notice]]:
        """See `Consumer`."""
        taken, notices = _compiled.take(self._consumer, most, round(secs * 1000))
        told = [Notice(KafkaError(code, text), partition, offset) for code, text, partition, offset in notices]
        return None if taken is None else _records(taken), told

    def close(self) -> None:
        """See `Consumer`."""
        _compiled.close(self._consumer)


def can_serve(client: Mapping[str, Any]) -> bool:
    """Tell whether the compiled consumer is there and can be set up so: nothing may have to be asked of Python."""
    return IS_COMPILED and not needs_callbacks(client)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _records(taken: tuple[Any, ...]) -> CompactRecords:
    first, partition, ascending, mixed, ends, data, offsets, epochs_ms, without = taken
    count = len(ends) // 8 - 1
    valid = None
    if without:
        flags = np.ones(count, np.bool_)
        flags[without] = False
        valid = pa.py_buffer(np.packbits(flags, bitorder="little"))
    buffers = [valid, pa.py_buffer(ends), pa.py_buffer(data)]
    return CompactRecords(
        pa.Array.from_buffers(pa.large_binary(), count, buffers, null_count=len(without)),
        range(first, first + count) if offsets is None else _numbers(offsets).to_pylist(),
        frozenset((partition, -1) if mixed else (partition,)),
        bool(ascending),
        _numbers(epochs_ms),
    )


def _numbers(data: bytes) -> pa.Array:
    return pa.Array.from_buffers(pa.int64(), len(data) // 8, [None, pa.py_buffer(data)])
