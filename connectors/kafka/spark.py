"""The Kafka source as a Spark Python Data Source: the way a DataFrame reads it, and the planner of every query."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from connectors.handover import OPTION, Handover
from connectors.kafka.broker import Broker
from connectors.kafka.positions import Positions
from connectors.kafka.rejects import RejectsAside, rejects_root
from connectors.kafka.shape import added_columns, arrow_schema, to_arrow
from connectors.kafka.source import KafkaSource, Planner
from connectors.kafka.start import read_start
from connectors.ports import SourceRange
from dynamicframe.chunk import with_columns
from dynamicframe.declared import RecordDecoder
from etlcore.checkpoint import Checkpoint
from etlcore.clock import SystemClock
from etlcore.errors import EtlError
from etlcore.failpoints import reach
from etlcore.logging import configure_once
from etlcore.storage import open_storage
from etlcore.task_errors import marked

FORMAT = "gluepot-kafka"
# The source itself travels in the options: Spark hands them to every process as they are. Hex, because options are
# text; the settings hold secrets, and Spark redacts options whose name contains "secret".
SOURCE_OPTION = "gluepot.secret.source"
# Of a bounded read: the ranges to read, instead of those from startingOffsets to endingOffsets.
RANGES_OPTION = "gluepot.ranges"
REJECTS_OPTION = "gluepot.rejects"


def to_option(source: KafkaSource) -> str:
    """Return the source in the form `SOURCE_OPTION` takes."""
    return pickle.dumps(source).hex()


def ranges_option(ranges: Sequence[SourceRange]) -> str:
    """Return ranges in the form `RANGES_OPTION` takes."""
    return json.dumps([one.to_json() for one in ranges])


class KafkaDataSource(DataSource):
    """`spark.readStream.format("gluepot-kafka")`, made by `awsglue` from the script's options."""

    @classmethod
    def name(cls) -> str:  # noqa: D102
        return FORMAT

    def schema(self) -> StructType:  # noqa: D102
        source = self._source()
        return from_arrow_schema(arrow_schema(source.settings, source.declared), prefer_timestamp_ntz=True)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802, D102
        folder = self.options.get(OPTION)
        return KafkaStreamReader(self._source(), Handover(Path(folder)) if folder else None)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002, D102
        given = self.options.get(RANGES_OPTION)
        ranges = None if given is None else [SourceRange.from_json(one) for one in json.loads(given)]
        return KafkaBatchReader(self._source(), ranges, self.options.get(REJECTS_OPTION))

    def _source(self) -> KafkaSource:
        # Our own bytes, written by `to_option` in the driver of the same job; nothing from outside gets here.
        source = pickle.loads(bytes.fromhex(self.options[SOURCE_OPTION]))  # noqa: S301
        assert isinstance(source, KafkaSource)
        return source


@dataclass(frozen=True)
class RangePartition(InputPartition):
    """One task's input.

    Args:
        wanted: what it reads.
        rejects_root: where records go that cannot be decoded; None where there is no such place.
    """

    wanted: SourceRange
    rejects_root: str | None = None


def _read(source: KafkaSource, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    assert isinstance(partition, RangePartition)
    if source.declared is not None:
        yield from _decode(source, source.declared.decoder(), partition)
        return
    schema = arrow_schema(source.settings)
    for raw in marked(source.read(partition.wanted)):
        yield to_arrow(raw, schema)


def _decode(source: KafkaSource, decoder: RecordDecoder, partition: RangePartition) -> Iterator[pa.RecordBatch]:
    added = added_columns(source.settings)
    with RejectsAside(partition.rejects_root, partition.wanted) as rejects:
        for raw in marked(source.read(partition.wanted)):
            chunk = decoder.decode(raw.values, raw.positions, raw.stream, raw.shard)
            rejects.add(chunk.errors)
            yield with_columns(chunk, raw.positions, raw.beside(added)).batch


class KafkaBatchReader(DataSourceReader):
    """A bounded read: of given ranges, or from startingOffsets to endingOffsets."""

    def __init__(
        self, source: KafkaSource, ranges: Sequence[SourceRange] | None, rejects_root: str | None = None
    ) -> None:
        self._source = source
        self._ranges = ranges
        self._rejects_root = rejects_root

    def partitions(self) -> list[InputPartition]:  # noqa: D102
        ranges = self._source.bounded() if self._ranges is None else self._ranges
        return [RangePartition(wanted, self._rejects_root) for wanted in ranges]

    def read(self, partition: InputPartition) -> Iterator[Any]:  # noqa: D102
        return _read(self._source, partition)


class KafkaStreamReader(DataSourceStreamReader):
    """Plans in a process of its own beside the driver, reads in the workers."""

    def __init__(self, source: KafkaSource, handover: Handover | None) -> None:
        self._source = source
        self._handover = handover
        self._planner: Planner | None = None
        self._newest: dict[str, Any] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802, D102
        return self._reporting(lambda planner: planner.initial().to_json())

    def latestOffset(self, *_: Any) -> dict[str, Any]:  # noqa: N802
        """Return the end of the next batch. Spark 4.1 gives no arguments, 4.2 start and limit; both plan alike."""
        if self._handover and self._handover.stop_asked() and self._newest is not None:
            return self._newest
        reach("plan.asked")
        planned = self._reporting(lambda planner: planner.latest().to_json())
        if planned != self._newest:
            reach("plan.made")
        self._newest = planned
        return planned

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:  # noqa: ARG002
        """Cut a batch; its end says where it starts (see `positions`)."""
        root = rejects_root(self._source.settings, self._handover.checkpoint() if self._handover else None)
        return [RangePartition(wanted, root) for wanted in self._source.split(Positions.from_json(end))]

    def read(self, partition: InputPartition) -> Iterator[Any]:  # noqa: D102
        return _read(self._source, partition)

    def commit(self, end: dict[str, Any]) -> None:
        """Keep nothing: the checkpoint is the authority."""

    def stop(self) -> None:
        """Hold nothing that needs releasing."""

    def _reporting(self, ask: Any) -> dict[str, Any]:
        try:
            return dict(ask(self._planning()))
        except EtlError as error:
            if self._handover:
                self._handover.report(error)
            raise

    def _planning(self) -> Planner:
        if self._planner is None:
            configure_once()  # a process of its own: its warnings should look like the driver's
            location = self._handover.checkpoint() if self._handover else None
            entry = Checkpoint(location).newest_offsets() if location else None
            start = read_start(open_storage(location)) if location and entry is None else None
            broker = Broker(self._source.settings)
            self._planner = Planner(self._source, SystemClock(), entry, location or "", broker, start)
        return self._planner
