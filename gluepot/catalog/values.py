"""Databases, tables and partitions as Glue describes them (docs/glue 11.4).

Each object keeps the JSON that GetDatabase, GetTable and GetPartition return, so that nothing of a dump made on AWS is
lost. Its properties give the values that this runtime understands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from gluepot.core.errors import ConfigError

_OF_THE_STORE = ("CreateTime", "UpdateTime", "CreationTime", "VersionId", "DatabaseName", "TableName")
"""Members that follow from the place in the catalog; they are added when an entry is shown."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column or a partition key.

    Args:
        name: in lower case.
        type: Hive's name: `bigint`, `struct<a:int>`.
        comment: for people.
        further: other members of Glue's form.
    """

    name: str
    type: str
    comment: str = ""
    further: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Column:
        """Read Glue's form; a column without a type is a text."""
        further = {name: value for name, value in plain.items() if name not in {"Name", "Type", "Comment"}}
        name, kind = str(plain["Name"]).lower(), str(plain.get("Type") or "string")
        return cls(name, kind, str(plain.get("Comment") or ""), further)

    def to_json(self) -> dict[str, Any]:
        """Return Glue's form."""
        comment = {"Comment": self.comment} if self.comment else {}
        return {"Name": self.name, "Type": self.type, **comment, **self.further}


@dataclass(frozen=True, slots=True)
class Storage:
    """A `StorageDescriptor`, of a table or a partition."""

    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, partition keys not among them."""
        return tuple(map(Column.of, self.body.get("Columns") or ()))

    @property
    def location(self) -> str:
        """URL of the folder; empty where there is none."""
        return str(self.body.get("Location") or "")

    @property
    def parameters(self) -> Mapping[str, str]:
        """Parameters of the storage, those of a stream among them."""
        return self.body.get("Parameters") or {}

    @property
    def serde(self) -> str:
        """Class that reads and writes the records."""
        return str((self.body.get("SerdeInfo") or {}).get("SerializationLibrary") or "")

    @property
    def serde_parameters(self) -> Mapping[str, str]:
        """Parameters of that class."""
        return (self.body.get("SerdeInfo") or {}).get("Parameters") or {}


@dataclass(frozen=True, slots=True)
class Database:
    """A database.

    Args:
        name: in lower case.
        body: as GetDatabase answers.
        created_ms: since 1970.
    """

    name: str
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    created_ms: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return what GetDatabase answers, `Database` without its wrapping."""
        return {**self.body, "Name": self.name, "CreateTime": iso_time(self.created_ms)}


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Args:
        database: in lower case.
        name: in lower case.
        body: as GetTable answers.
        version: grows with each change.
        created_ms: since 1970.
        updated_ms: since 1970.
        iceberg_catalog: the name in Spark's settings of the catalog by which jobs have this Iceberg table; None for a
            table that jobs do not have.
    """

    database: str
    name: str
    body: Mapping[str, Any] = field(repr=False)
    version: int = 0
    created_ms: int = 0
    updated_ms: int = 0
    iceberg_catalog: str | None = None

    @property
    def title(self) -> str:
        """The table's name in messages."""
        return f"{self.database}.{self.name}"

    @property
    def storage(self) -> Storage:
        """The place and the format of its records."""
        return Storage(self.body.get("StorageDescriptor") or {})

    @property
    def partition_keys(self) -> tuple[Column, ...]:
        """The columns that are names of folders, outermost first."""
        return tuple(map(Column.of, self.body.get("PartitionKeys") or ()))

    @property
    def parameters(self) -> Mapping[str, str]:
        """Parameters of the table, `classification` among them."""
        return self.body.get("Parameters") or {}

    def with_columns(self, columns: Iterable[Column]) -> Table:
        """Return the table with other columns."""
        storage = {**self.storage.body, "Columns": [column.to_json() for column in columns]}
        return replace(self, body={**self.body, "StorageDescriptor": storage})

    def to_json(self) -> dict[str, Any]:
        """Return what GetTable answers, `Table` without its wrapping."""
        return {
            **self.body,
            "Name": self.name,
            "DatabaseName": self.database,
            "CreateTime": iso_time(self.created_ms),
            "UpdateTime": iso_time(self.updated_ms),
            "VersionId": str(self.version),
        }


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of a table.

    Args:
        values: of the table's keys, in their order; as Glue has them, texts.
        body: as GetPartition answers; a column list of its own is kept and not used.
        created_ms: since 1970.
    """

    values: tuple[str, ...]
    body: Mapping[str, Any] = field(repr=False)
    created_ms: int = 0

    @property
    def location(self) -> str:
        """URL of its folder; empty where there is none."""
        return Storage(self.body.get("StorageDescriptor") or {}).location

    @property
    def parameters(self) -> Mapping[str, str]:
        """Parameters of the partition."""
        return self.body.get("Parameters") or {}

    def to_json(self, table: Table) -> dict[str, Any]:
        """Return what GetPartition answers, `Partition` without its wrapping."""
        return {
            **self.body,
            "Values": list(self.values),
            "DatabaseName": table.database,
            "TableName": table.name,
            "CreationTime": iso_time(self.created_ms),
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """A function, a partition index or a connection.

    Args:
        kind: `function`, `index` or `connection`.
        name: as it was given.
        body: what describes it, in Glue's form.
        database: that holds it, in lower case; empty for a connection.
        table: that holds it, in lower case; empty for what belongs to no table.
        created_ms: since 1970.
        updated_ms: since 1970.
    """

    kind: Literal["function", "index", "connection"]
    name: str
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    database: str = ""
    table: str = ""
    created_ms: int = 0
    updated_ms: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the catalog that is to be told as an event.

    Args:
        id: its own, and nothing else's.
        at_ms: when it was made, in milliseconds since 1970.
        operation: the operation of the API that made it.
        database: the database.
        table: the table that was changed; empty for a change of the database.
        names: the tables that it concerns, or the partitions: their values with commas between them.
    """

    id: str
    at_ms: int
    operation: str
    database: str
    table: str = ""
    names: Sequence[str] = ()


def database_of(plain: Mapping[str, Any]) -> Database:
    """Read what GetDatabase answers.

    Raises:
        ConfigError: it has no name.
    """
    return Database(catalog_name(plain.get("Name")), _own(plain), epoch_ms(plain.get("CreateTime")))


def table_of(plain: Mapping[str, Any], database: str | None = None) -> Table:
    """Read what GetTable answers, or a TableInput.

    Args:
        plain: the members.
        database: where they do not say it.

    Raises:
        ConfigError: it has no name, or no database.
    """
    where = catalog_name(plain.get("DatabaseName") or database)
    created_ms = epoch_ms(plain.get("CreateTime"))
    return Table(where, catalog_name(plain.get("Name")), _own(plain), 0, created_ms, epoch_ms(plain.get("UpdateTime")))


def partition_of(plain: Mapping[str, Any]) -> Partition:
    """Read what GetPartition answers.

    Raises:
        ConfigError: it has no values.
    """
    values = plain.get("Values")
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise ConfigError(f"A partition has the Values {values!r}; give a list with the value of each key.")
    return Partition(tuple(map(str, values)), _own(plain), epoch_ms(plain.get("CreationTime")))


def catalog_name(given: object) -> str:
    """Return a name as the catalog keeps it: in lower case, for Hive's sake (docs/glue 11.1).

    Raises:
        ConfigError: it is no text of 1 to 255 characters.
    """
    if not isinstance(given, str) or not 1 <= len(given.strip()) <= 255:
        raise ConfigError(f"A name in the catalog is {given!r}; use 1 to 255 characters.")
    return given.strip().lower()


def epoch_ms(given: object) -> int:
    """Return a time stamp of Glue's, a number of seconds or ISO text, in milliseconds; 0 where there is none.

    Raises:
        ConfigError: it is neither.
    """
    try:
        match given:
            case None | "":
                return 0
            case str():
                moment = datetime.fromisoformat(given)
                return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
            case int() | float():
                return int(given * 1000)
    except ValueError as error:
        raise ConfigError(f"A time is {given!r}; write seconds since 1970, or ISO text.") from error
    raise ConfigError(f"A time is {given!r}; write seconds since 1970, or ISO text.")


def iso_time(at_ms: int) -> str:
    """Return a time as the AWS command line prints it."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds")


def _own(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in plain.items() if name not in _OF_THE_STORE}
