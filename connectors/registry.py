"""The table of connection types, and that of file formats. A connector is imported when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from gluepot.connectors.files.contracts import RowReader
from gluepot.connectors.options import Declare
from gluepot.connectors.ports import BatchRead, PlannedSource, RecordSink, Sink
from gluepot.connectors.positions import StreamPositions

T = TypeVar("T")


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
        "glueparquet": ("gluepot.connectors.files.formats.parquet.sink", "glueparquet_sink"),
        "parquet": ("gluepot.connectors.files.formats.parquet.sink", "glueparquet_sink"),
        "json": ("gluepot.connectors.files.formats.json.sink", "json_sink"),
        "csv": ("gluepot.connectors.files.formats.csv.sink", "csv_sink"),
    }
)

READERS: Mapping[str, RowReader] = _OnDemand(
    {
        "parquet": ("gluepot.connectors.files.formats.parquet.read_back", "read_parquet"),
        "json": ("gluepot.connectors.files.formats.json.read_back", "read_json"),
        "csv": ("gluepot.connectors.files.formats.csv.read_back", "read_csv"),
    }
)


class Access(StrEnum):
    """Which part of the engine reads or writes a connection type."""

    FILES = "files"
    """Folders of files, in the formats of `SINKS` and `gluepot.connectors.files.formats`."""
    DATABASE = "database"
    """Tables of a database behind a JDBC driver."""
    LAKE = "lake"
    """Tables of Iceberg and Delta, through Spark."""
    RECORDS = "records"
    """Whatever a connector of its own makes records of, or sends records to."""


@dataclass(frozen=True, slots=True)
class Connector:
    """What can be done with one connection type. What is left out cannot be done.

    A package of its own adds a type by an entry point of the group `gluepot.connectors`: its name is the connection
    type, and it leads to a `Connector`. Functions are named `module:function` and imported when they are first called.

    Args:
        reads: what makes a bounded read.
        writes: what makes a write.
        stream_source: `function(options, declare) -> PlannedSource`, as Glue would read the stream. A bounded read of
            the type then reads up to the stream's end, unless `batch_source` is given.
        positions: the class of the stream's entries in the offset log, a `StreamPositions`.
        batch_source: `function(options) -> BatchRead`, for a bounded read.
        record_sink: `function(options) -> RecordSink`.
    """

    reads: Access | None = None
    writes: Access | None = None
    stream_source: str = ""
    positions: str = ""
    batch_source: str = ""
    record_sink: str = ""

    @property
    def reads_rows(self) -> bool:
        """Whether `create_data_frame` reads the type, which takes streams and tables of a lake only."""
        return bool(self.stream_source) or self.reads is Access.LAKE

    def new_stream_source(self, options: Mapping[str, Any], declare: Declare) -> PlannedSource:
        """Return the source of a stream.

        Args:
            options: of the script, the properties of its connection among them.
            declare: reads the schema that the options declare, if any.
        """
        source: PlannedSource = _imported(self.stream_source)(options, declare)
        return source

    def new_batch_read(self, options: Mapping[str, Any]) -> BatchRead:
        """Return what a bounded read is made of."""
        read: BatchRead = _imported(self.batch_source)(options)
        return read

    def new_record_sink(self, options: Mapping[str, Any]) -> RecordSink:
        """Return the sink that records are sent to."""
        sink: RecordSink = _imported(self.record_sink)(options)
        return sink


_FILES = Connector(Access.FILES, Access.FILES)
_READ_ONLY_FILES = Connector(Access.FILES)
_DATABASE = Connector(Access.DATABASE, Access.DATABASE)
_LAKE = Connector(Access.LAKE, Access.LAKE)


def _stream(name: str) -> Connector:
    package = f"gluepot.connectors.{name}"
    return Connector(
        Access.RECORDS,
        Access.RECORDS,
        stream_source=f"{package}.source:{name}_source",
        positions=f"{package}.positions:Positions",
        record_sink=f"{package}.sink:{name}_sink",
    )


_OWN: Mapping[str, Connector] = {
    "s3": _FILES,
    "file": _READ_ONLY_FILES,
    "parquet": _READ_ONLY_FILES,  # Glue's own library reads these two formats when it is asked for S3
    "orc": _READ_ONLY_FILES,
    **dict.fromkeys(("postgresql", "mysql", "sqlserver", "oracle", "redshift", "jdbc", "custom.jdbc"), _DATABASE),
    **dict.fromkeys(("delta", "iceberg", "custom.spark", "marketplace.spark"), _LAKE),
    "kafka": _stream("kafka"),
    "kinesis": _stream("kinesis"),
}

ENTRY_POINTS = "gluepot.connectors"


def connector(connection_type: str) -> Connector:
    """Return what can be done with a connection type, in any letter case; nothing with a type that is not known."""
    return _named(connection_type.lower())


def types_that(can: Callable[[Connector], object]) -> str:
    """Return the connection types with which something can be done, as a message lists them."""
    return ", ".join(repr(name) for name, one in {**_added(), **_OWN}.items() if can(one))


def positions_class(source: object) -> type[StreamPositions[Any]] | None:
    """Return the class that reads a source's entries of the offset log; None for a source that is not known.

    Args:
        source: what an entry says of its source, letter for letter; a damaged entry may hold anything.
    """
    place = _named(source).positions if isinstance(source, str) else ""
    found: type[StreamPositions[Any]] | None = _imported(place) if place else None
    return found


def _named(name: str) -> Connector:
    return _OWN.get(name) or _added().get(name) or Connector()


@cache
def _added() -> Mapping[str, Connector]:
    """Return the types of other packages. Looking for them takes a while, so types of our own are asked for first."""
    from importlib.metadata import entry_points  # noqa: PLC0415  as above

    return {one.name.lower(): one.load() for one in entry_points(group=ENTRY_POINTS)}


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
