"""A stream source as a Spark Python data source. DataFrames read through it, and it runs the planner of every query."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from gluepot.connectors.contracts import Planner, StreamSource
from gluepot.connectors.streams.handover import OPTION, Handover
from gluepot.connectors.streams.rejects import RangeNames, RejectsAside, malformed_error, rejects_root
from gluepot.connectors.streams.shape import arrow_schema, as_json, to_arrow
from gluepot.connectors.values import RawBatch, SourceRange
from gluepot.core.checkpoint import Checkpoint
from gluepot.core.clock import SystemClock
from gluepot.core.errors import EtlError
from gluepot.core.failpoints import reach
from gluepot.core.logging import configure_once
from gluepot.core.on_malformed import OnMalformed
from gluepot.core.task_errors import marked
from gluepot.frames.chunk import with_columns

if TYPE_CHECKING:  # planners need none of the decoders
    from gluepot.frames.declared import RecordDecoder

FORMAT = "gluepot-stream"
# The option holds the pickled source itself, because Spark hands options unchanged to every process. It is hex, because
# options are text. Settings contain secrets, and Spark redacts options whose name contains "secret".
SOURCE_OPTION = "gluepot.secret.source"
# The ranges that a bounded read takes, in place of those from startingOffsets to endingOffsets.
RANGES_OPTION = "gluepot.ranges"
REJECTS_OPTION = "gluepot.rejects"
# The program that Spark starts beside the driver.
_PLANNER = "pyspark.sql.streaming.python_streaming_source_runner"


def to_option(source: StreamSource) -> str:
    """Return the source in the form `SOURCE_OPTION` takes."""
    return pickle.dumps(source).hex()


def ranges_option(ranges: Sequence[SourceRange]) -> str:
    """Return ranges in the form `RANGES_OPTION` takes."""
    return json.dumps([one.to_json() for one in ranges])


class StreamDataSource(DataSource):
    """`spark.readStream.format("gluepot-stream")`. `awsglue` makes it from the script's options."""

    @classmethod
    def name(cls) -> str:  # noqa: D102
        return FORMAT

    def schema(self) -> StructType:  # noqa: D102
        return from_arrow_schema(arrow_schema(self._source().shape), prefer_timestamp_ntz=True)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802, D102
        _end_with_spark()
        folder = self.options.get(OPTION)
        return RangeStreamReader(self._source(), Handover(Path(folder)) if folder else None)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002, D102
        given = self.options.get(RANGES_OPTION)
        ranges = None if given is None else [SourceRange.from_json(one) for one in json.loads(given)]
        return RangeReader(self._source(), ranges, self.options.get(REJECTS_OPTION))

    def _source(self) -> StreamSource:
        # `to_option` wrote these bytes in the driver of the same job; no outside data gets here.
        source: StreamSource = pickle.loads(bytes.fromhex(self.options[SOURCE_OPTION]))  # noqa: S301
        return source


def _end_with_spark() -> None:
    """Let the planner's process end without a traceback when Spark has ended and closed the connection to it."""
    main = getattr(sys.modules["__main__"], "__spec__", None)
    if main is None or main.name != _PLANNER:
        return

    def unless_closed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, EOFError | ConnectionError):
            sys.__excepthook__(kind, error, trace)

    sys.excepthook = unless_closed


@dataclass(frozen=True)
class RangePartition(InputPartition):
    """One task's input.

    Args:
        wanted: the range that it reads.
        rejects_root: the folder for records that cannot be decoded; None if there is no such folder.
    """

    wanted: SourceRange
    rejects_root: str | None = None


def _read(source: StreamSource, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    assert isinstance(partition, RangePartition)
    shape = source.shape
    if shape.declared is not None:
        yield from _decode(source, shape.declared.decoder(), partition)
        return
    schema = arrow_schema(shape)
    decoder = None if shape.growing is None else shape.growing.decoder()
    from gluepot.connectors.streams.compressed import plain_batches  # noqa: PLC0415  planners read no payloads

    is_text = decoder is not None or pa.types.is_string(schema.field(0).type)
    for original in marked(_raw_batches(source, partition.wanted)):
        for raw, _ in plain_batches(original) if is_text else [(original, {})]:
            yield to_arrow(raw if decoder is None else as_json(raw, decoder), schema)


def _raw_batches(source: StreamSource, wanted: SourceRange) -> Iterator[RawBatch]:
    reading = source.reading()
    there = reading.remaining([wanted])
    for one in there:
        yield from reading.reader.read(one)
    reading.confirm(there)


def _decode(source: StreamSource, decoder: RecordDecoder, partition: RangePartition) -> Iterator[pa.RecordBatch]:
    from gluepot.connectors.streams.compressed import as_they_came, plain_batches  # noqa: PLC0415  as above

    added = source.shape.added.names
    with RejectsAside(partition.rejects_root, RangeNames(partition.wanted)) as rejects:
        for raw, originals in chain.from_iterable(map(plain_batches, marked(_raw_batches(source, partition.wanted)))):
            chunk = as_they_came(decoder.decode(raw.values, raw.positions, raw.stream, raw.shard), originals)
            if chunk.errors and source.shape.on_malformed is OnMalformed.FAIL:
                raise malformed_error(chunk.errors[0])
            rejects.add(chunk.errors)
            yield with_columns(chunk, raw.positions, raw.beside(added)).batch


class RangeReader(DataSourceReader):
    """A bounded read, either of given ranges or from startingOffsets to endingOffsets."""

    def __init__(
        self, source: StreamSource, ranges: Sequence[SourceRange] | None, rejects_root: str | None = None
    ) -> None:
        self._source = source
        self._ranges = ranges
        self._rejects_root = rejects_root

    def partitions(self) -> list[InputPartition]:  # noqa: D102
        ranges = self._source.bounded() if self._ranges is None else self._ranges
        return [RangePartition(wanted, self._rejects_root) for wanted in ranges]

    def read(self, partition: InputPartition) -> Iterator[Any]:  # noqa: D102
        return _read(self._source, partition)


class RangeStreamReader(DataSourceStreamReader):
    """Plans in a process of its own beside the driver, reads in the workers."""

    def __init__(self, source: StreamSource, handover: Handover | None) -> None:
        self._source = source
        self._handover = handover
        self._planner: Planner | None = None
        self._newest: dict[str, Any] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802, D102
        return self._reporting(lambda planner: planner.initial().to_json())

    def latestOffset(self, *_: Any) -> dict[str, Any]:  # noqa: N802
        """Return the end of the next batch.

        Spark 4.1 passes no arguments, Spark 4.2 passes start and limit; planning is the same for both.
        """
        if self._handover and self._handover.stop_asked() and self._newest is not None:
            return self._newest
        reach("plan.asked")
        planned = self._reporting(lambda planner: planner.latest().to_json())
        if planned != self._newest:
            reach("plan.made")
        self._newest = planned
        return planned

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:  # noqa: ARG002
        """Cut a batch into partitions. The entry of its end also says where it starts (see `positions`)."""
        root = rejects_root(self._source.shape.rejects_path, self._handover.checkpoint() if self._handover else None)
        return [RangePartition(wanted, root) for wanted in self._source.split(self._source.codec.decode(end))]

    def read(self, partition: InputPartition) -> Iterator[Any]:  # noqa: D102
        return _read(self._source, partition)

    def commit(self, end: dict[str, Any]) -> None:
        """Tell the planner that a batch is done. Losing this call does no harm: the checkpoint is the authority."""
        self._planning().committed(self._source.codec.decode(end))

    def stop(self) -> None:
        """Close the planner."""
        if self._planner is not None:
            self._planner.close()

    def _reporting(self, ask: Any) -> dict[str, Any]:
        try:
            return dict(ask(self._planning()))
        except EtlError as error:
            if self._handover:
                self._handover.report(error)
            raise

    def _planning(self) -> Planner:
        if self._planner is None:
            configure_once()  # The planner runs in its own process, whose warnings should look like the driver's.
            location = self._handover.checkpoint() if self._handover else None
            self._planner = self._source.planner(Checkpoint(location) if location else None, SystemClock())
        return self._planner
