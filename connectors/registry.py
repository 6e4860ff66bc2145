"""Which source and sink belongs to which name. A connector is imported when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

import pyarrow as pa

from gluepot.connectors.ports import PlannedSource, RecordSink, Sink
from gluepot.connectors.streams.options import Declare
from gluepot.connectors.streams.positions import StreamPositions

T = TypeVar("T")


class FileReader(Protocol):
    """Reads a file that a sink wrote."""

    def __call__(
        self, file: BinaryIO, encoding: Mapping[str, Any], schema: pa.Schema, columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a file in order, in bounded batches.

        Args:
            file: can be read at any position; the caller closes it.
            encoding: what the manifest says of the file.
            schema: what the manifest says of the columns of all files of the write; formats without types need it.
            columns: names to read, in this order; those that the file lacks are not in the result.

        Raises:
            ValueError: the bytes are not such a file. Also OSError or EOFError, from the libraries below.
        """


class _OnDemand(Mapping[str, T], Generic[T]):
    """Names to functions, each imported when it is looked up."""

    def __init__(self, places: Mapping[str, tuple[str, str]]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> T:
        module, function = self._places[name]
        found: T = getattr(import_module(module), function)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


# function(path, key, format_options, *, partition_keys, ctx, rejects_path)
SINKS: Mapping[str, Callable[..., Sink]] = _OnDemand(
    {
        "glueparquet": ("gluepot.connectors.glueparquet", "glueparquet_sink"),
        "parquet": ("gluepot.connectors.glueparquet", "glueparquet_sink"),
        "json": ("gluepot.connectors.textfiles", "json_sink"),
        "csv": ("gluepot.connectors.textfiles", "csv_sink"),
    }
)

READERS: Mapping[str, FileReader] = _OnDemand(
    {
        "parquet": ("gluepot.connectors.glueparquet", "read_parquet"),
        "json": ("gluepot.connectors.textfiles", "read_json"),
        "csv": ("gluepot.connectors.textfiles", "read_csv"),
    }
)

# function(options of the script, the connection's properties among them) -> the source, as Glue would read it
STREAM_SOURCES: Mapping[str, Callable[[Mapping[str, Any], Declare], PlannedSource]] = _OnDemand(
    {
        "kafka": ("gluepot.connectors.kafka.source", "kafka_source"),
        "kinesis": ("gluepot.connectors.kinesis.source", "kinesis_source"),
    }
)

# function(options of the script, the connection's properties among them) -> the sink
RECORD_SINKS: Mapping[str, Callable[[Mapping[str, Any]], RecordSink]] = _OnDemand(
    {
        "kafka": ("gluepot.connectors.kafka.sink", "kafka_sink"),
        "kinesis": ("gluepot.connectors.kinesis.sink", "kinesis_sink"),
    }
)

_POSITIONS: Mapping[str, type[StreamPositions[Any]]] = _OnDemand(
    {
        "kafka": ("gluepot.connectors.kafka.positions", "Positions"),
        "kinesis": ("gluepot.connectors.kinesis.positions", "Positions"),
    }
)


def positions_class(source: str) -> type[StreamPositions[Any]] | None:
    """Return what reads a source's entries of the offset log; None for a source that is not ours."""
    return _POSITIONS.get(source)
