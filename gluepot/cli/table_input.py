"""The TableInput of a new table, from options of the command line or from a JSON document. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gluepot.catalog.formats import HIVE_FORMATS, new_storage
from gluepot.catalog.values import Column
from gluepot.core.errors import ConfigError, did_you_mean

TableFormatName = Literal["parquet", "json", "csv", "avro", "orc", "xml"]


@dataclass(frozen=True, slots=True)
class TableDescription:
    """A table, as options of the command line describe it.

    Args:
        name: without the database.
        columns: the columns, partition keys not among them.
        partition_keys: outermost first.
        format: of the files or of the records of a stream.
        location: URL of the folder of files.
        parameters: of the table.
        topic: the topic of Kafka that the table stands for.
        stream: name or ARN of the Kinesis stream that the table stands for.
        connection: names the brokers of the topic.
        bootstrap: a broker of the topic, instead of the connection.
    """

    name: str
    columns: Sequence[Column] = ()
    partition_keys: Sequence[Column] = ()
    format: TableFormatName = "parquet"
    location: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    topic: str | None = None
    stream: str | None = None
    connection: str | None = None
    bootstrap: str | None = None

    def table_input(self) -> dict[str, Any]:
        """Return the TableInput.

        Raises:
            ConfigError: the options contradict each other, or do not say where the data is.
        """
        places = [option for option in ("topic", "stream", "location") if getattr(self, option)]
        if len(places) != 1:
            given = f"{' and '.join(f'--{one}' for one in places)} are both given" if places else "it is not said"
            raise ConfigError(
                f"Where is the data of {self.name}? {given.capitalize()}; give one of --location, --topic, --stream."
            )
        if (self.connection or self.bootstrap) and not self.topic:
            raise ConfigError("--connection and --bootstrap name the brokers of a topic; give --topic, too.")
        if self.topic and bool(self.connection) == bool(self.bootstrap):
            raise ConfigError(f"Which brokers have the topic {self.topic}? Give either --connection or --bootstrap.")
        storage = self._files() if self.location else self._stream()
        plain = [one.to_json() for one in self.columns]
        return {
            "Name": self.name,
            "TableType": "EXTERNAL_TABLE",
            "Parameters": {"classification": self.format, **self.parameters},
            "PartitionKeys": [one.to_json() for one in self.partition_keys],
            "StorageDescriptor": {**storage, "Columns": plain},
        }

    def _files(self) -> dict[str, Any]:
        location = self.location or ""
        return dict(new_storage(self.format, location).body) if self.format in HIVE_FORMATS else {"Location": location}

    def _stream(self) -> dict[str, Any]:
        """Return what docs/glue 3.6 says of the tables of streams."""
        if self.topic:
            brokers = {"connectionName": self.connection} if self.connection else {"bootstrap.servers": self.bootstrap}
            return {"Location": self.topic, "Parameters": {"typeOfData": "kafka", "topicName": self.topic, **brokers}}
        member = "streamARN" if (self.stream or "").startswith("arn:") else "streamName"
        return {"Location": self.stream, "Parameters": {"typeOfData": "kinesis", member: self.stream}}


def column_of(option: str, text: str) -> Column:
    """Return the column that `NAME:TYPE` describes.

    Raises:
        ConfigError: it is no such text, or Hive has no such type.
    """
    from gluepot.frames.schema.hive_types import arrow_of_hive  # noqa: PLC0415  it takes its time to load

    name, colon, kind = text.partition(":")
    if not (name.strip() and colon and kind.strip()):
        raise ConfigError(f"--{option} is {text!r}; write NAME:TYPE, such as id:bigint.")
    try:
        arrow_of_hive(kind)
    except ConfigError as wrong:
        raise ConfigError(f"--{option} is {text!r}. {wrong}") from wrong
    return Column(name.strip().lower(), kind.strip())


def input_of(document: object, name: str, where: str) -> dict[str, Any]:
    """Return the TableInput that a JSON document holds, for a table of this name.

    Args:
        document: the TableInput, or an object with the member TableInput, as CreateTable takes it.
        name: of the table; a document that has another name is refused.
        where: of the document, for messages.

    Raises:
        ConfigError: it is neither, or it has another name.
    """
    found = document.get("TableInput", document) if isinstance(document, Mapping) else document
    if not isinstance(found, Mapping):
        raise ConfigError(f"{where} holds a {type(found).__name__}; write the object TableInput of AWS's CreateTable.")
    if str(found.get("Name", name)).lower() != name.lower():
        raise ConfigError(f"{where} describes the table {found['Name']}, not {name}; correct one of the names.")
    unknown = next(_unknown(found), None)
    if unknown:
        raise ConfigError(f"{where}: {unknown}")
    return {**found, "Name": name}


def checked(operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the request of an operation of Glue, which follows AWS's model.

    Raises:
        ConfigError: it does not.
    """
    from gluepot.service.errors import ServiceError  # noqa: PLC0415  as above
    from gluepot.service.wire.shapes import check_request  # noqa: PLC0415  as above

    try:
        check_request(operation, request)
    except ServiceError as refused:
        raise ConfigError(f"{refused}; correct it.") from refused
    return request


def _unknown(plain: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each member that AWS's model does not know; AWS itself would ignore it."""
    from gluepot.service.wire.shapes import model_of  # noqa: PLC0415  as above

    shape = model_of("glue").shape_for("TableInput")
    for name in plain:
        if name not in shape.members:
            hint = did_you_mean(name, shape.members)
            yield f"TableInput has no member {name!r}.{hint} Correct the name, or take it out."
