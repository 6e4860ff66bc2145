"""The table of connection types, and that of file formats. A connector is imported when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gluepot.connectors.contracts import BatchRead, DocumentStore, RecordSink, Sink, StreamSource
from gluepot.connectors.files.contracts import RowReader
from gluepot.connectors.options import Declare
from gluepot.connectors.positions import StreamPositions
from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from gluepot.catalog.connections import Connection

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
    DOCUMENTS = "documents"
    """A store that keeps each row under an id; for writes."""


@dataclass(frozen=True, slots=True)
class Connector:
    """What can be done with one connection type. What is left out cannot be done.

    A package of its own adds a type by an entry point of the group `gluepot.connectors`: its name is the connection
    type, and it leads to a `Connector`. Functions are named `module:function` and imported when they are first called.

    Args:
        reads: what makes a bounded read.
        writes: what makes a write.
        stream_source: `function(options, declare) -> StreamSource`, as Glue would read the stream. A bounded read of
            the type then reads up to the stream's end, unless `batch_source` is given.
        positions: the class of the stream's entries in the offset log, a `StreamPositions`.
        batch_source: `function(options) -> BatchRead`, for a bounded read.
        record_sink: `function(options) -> RecordSink`.
        document_store: `function(options) -> DocumentStore`.
        connection: `function(connection) -> options`, for a type whose options may name a Glue connection. The options
            that the script gives itself take precedence over those of the connection.

    Raises:
        ConfigError: the connector says that it can do something and does not name what does it.
    """

    reads: Access | None = None
    writes: Access | None = None
    stream_source: str = ""
    positions: str = ""
    batch_source: str = ""
    record_sink: str = ""
    document_store: str = ""
    connection: str = ""

    def __post_init__(self) -> None:
        if self.reads is Access.RECORDS and not (self.stream_source or self.batch_source):
            raise ConfigError(
                "The connector reads records (reads=Access.RECORDS) but names no source; give it a stream_source or a"
                " batch_source, or leave out reads."
            )
        if self.stream_source and not self.positions:
            raise ConfigError(
                f"The connector has the stream_source {self.stream_source!r} but no class for its positions; give it"
                " positions, the place of a subclass of StreamPositions."
            )
        if self.writes is Access.RECORDS and not self.record_sink:
            raise ConfigError(
                "The connector writes records (writes=Access.RECORDS) but names no sink; give it a record_sink, or"
                " leave out writes."
            )
        if self.writes is Access.DOCUMENTS and not self.document_store:
            raise ConfigError(
                "The connector writes documents (writes=Access.DOCUMENTS) but names no store; give it a document_store,"
                " or leave out writes."
            )

    @property
    def reads_rows(self) -> bool:
        """Whether `create_data_frame` reads the type, which takes streams and tables of a lake only."""
        return bool(self.stream_source) or self.reads is Access.LAKE

    def new_stream_source(self, options: Mapping[str, Any], declare: Declare) -> StreamSource:
        """Return the source of a stream.

        Args:
            options: of the script, the properties of its connection among them.
            declare: reads the schema that the options declare, if any.
        """
        source: StreamSource = _imported(self.stream_source)(options, declare)
        return source

    def new_batch_read(self, options: Mapping[str, Any]) -> BatchRead:
        """Return what a bounded read is made of."""
        read: BatchRead = _imported(self.batch_source)(options)
        return read

    def new_record_sink(self, options: Mapping[str, Any]) -> RecordSink:
        """Return the sink that records are sent to."""
        sink: RecordSink = _imported(self.record_sink)(options)
        return sink

    def new_document_store(self, options: Mapping[str, Any]) -> DocumentStore:
        """Return the store that rows are put into."""
        store: DocumentStore = _imported(self.document_store)(options)
        return store

    def with_connection(self, options: Mapping[str, Any], find: Callable[[str], Connection]) -> Mapping[str, Any]:
        """Return the script's options with the properties of the connection that they name below them.

        Args:
            options: of the script.
            find: returns a connection by its name.

        Raises:
            ConfigError: the connection cannot be found, or is of another type.
        """
        name = options.get("connectionName")
        if not name or not self.connection:
            return options
        return {**_imported(self.connection)(find(str(name))), **options}


_FILES = Connector(Access.FILES, Access.FILES)
_READ_ONLY_FILES = Connector(Access.FILES)
_DATABASE = Connector(Access.DATABASE, Access.DATABASE)
_LAKE = Connector(Access.LAKE, Access.LAKE)


def _stream(name: str, connection: str = "") -> Connector:
    package = f"gluepot.connectors.{name}"
    return Connector(
        Access.RECORDS,
        Access.RECORDS,
        stream_source=f"{package}.source:{name}_source",
        positions=f"{package}.positions:Positions",
        record_sink=f"{package}.sink:{name}_sink",
        connection=connection,
    )


def _notified(name: str) -> Connector:
    return Connector(writes=Access.DOCUMENTS, document_store=f"gluepot.connectors.notifications.{name}:{name}_store")


def _documents(package: str, name: str) -> Connector:
    entry = f"gluepot.connectors.{package}.entry:{name}"
    return Connector(
        Access.RECORDS,
        Access.DOCUMENTS,
        batch_source=f"{entry}_read",
        document_store=f"{entry}_store",
        connection=f"gluepot.catalog.connections:{package}_options",
    )


# Connection types that lead to a database.
_DATABASES = (
    *("postgresql", "mysql", "sqlserver", "oracle", "snowflake", "redshift"),
    *("jdbc", "custom.jdbc", "marketplace.jdbc"),
)

_OWN: Mapping[str, Connector] = {
    "s3": _FILES,
    "file": _READ_ONLY_FILES,
    "parquet": _READ_ONLY_FILES,  # Glue's own library reads these two formats when it is asked for S3
    "orc": _READ_ONLY_FILES,
    **dict.fromkeys(_DATABASES, _DATABASE),
    **dict.fromkeys(("delta", "iceberg", "custom.spark", "marketplace.spark"), _LAKE),
    "kafka": _stream("kafka", connection="gluepot.catalog.connections:kafka_options"),
    "kinesis": _stream("kinesis"),
    "dynamodb": Connector(
        Access.RECORDS,
        Access.DOCUMENTS,
        batch_source="gluepot.connectors.dynamodb.source:dynamodb_read",
        document_store="gluepot.connectors.dynamodb.store:dynamodb_store",
    ),
    **{name: _documents("mongodb", name) for name in ("mongodb", "documentdb")},
    **{name: _documents("opensearch", name) for name in ("opensearch", "elasticsearch")},
    **{name: _notified(name) for name in ("sqs", "sns", "eventbridge", "firehose", "webhook")},
}

ENTRY_POINTS = "gluepot.connectors"


def connector(connection_type: str) -> Connector:
    """Return what can be done with a connection type, in any letter case; nothing with a type that is not known."""
    return _named(connection_type.lower())


def types_that(can: Callable[[Connector], object]) -> str:
    """Return the connection types with which something can be done, as a message lists them.

    A type that another package adds is left out if it cannot be loaded: the message is about another type.
    """
    added = {name: one for name in _entry_points() if (one := _loadable(name)) is not None}
    return ", ".join(repr(name) for name, one in {**added, **_OWN}.items() if can(one))


def positions_class(source: object) -> type[StreamPositions[Any]] | None:
    """Return the class that reads a source's entries of the offset log; None for a source that is not known.

    Args:
        source: what an entry says of its source, letter for letter; a damaged entry may hold anything.
    """
    place = _named(source).positions if isinstance(source, str) else ""
    found: type[StreamPositions[Any]] | None = _imported(place) if place else None
    return found


def _named(name: str) -> Connector:
    return _OWN.get(name) or (_loaded(name) if name in _entry_points() else Connector())


@cache
def _entry_points() -> Mapping[str, EntryPoint]:
    """Return what other packages add, by type. Looking for it takes a while, so our own types are asked for first."""
    from importlib.metadata import entry_points  # noqa: PLC0415  it loads slowly

    return {one.name.lower(): one for one in entry_points(group=ENTRY_POINTS)}


def _loadable(name: str) -> Connector | None:
    try:
        return _loaded(name)
    except ConfigError as broken:
        get_logger(__name__).warning("connector_not_loaded", connection_type=name, reason=str(broken))
        return None


@cache
def _loaded(name: str) -> Connector:
    """Load the connector of another package; only then is the package's code imported.

    Raises:
        ConfigError: it cannot be loaded, or is no connector.
    """
    place = _entry_points()[name]
    package = f"{place.dist.name} {place.dist.version}" if place.dist else "an unknown package"
    where = f"Connection type {name!r} is added by the entry point {place.value} of {package}, which"
    try:
        found = place.load()
    except Exception as broken:  # the package runs its own code when it is imported
        raise ConfigError(
            f"{where} cannot be loaded ({type(broken).__name__}: {broken}); repair, update or uninstall the package."
        ) from broken
    if not isinstance(found, Connector):
        raise ConfigError(
            f"{where} is a {type(found).__name__} and not a Connector. Let it name a gluepot.connector_api.Connector,"
            " or uninstall the package."
        )
    return found


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
