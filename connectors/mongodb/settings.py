"""Glue's options of reads and writes of MongoDB and DocumentDB (docs/glue 5.7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from gluepot.connectors.options import ScriptOptions
from gluepot.core.errors import ConfigError, did_you_mean

_ADDRESS = (
    "connection.uri", "uri", "database", "collection", "username", "password", "ssl", "ssl.domain_match", "retryWrites",
)  # fmt: skip
READ_OPTIONS = (
    *_ADDRESS, "batchSize", "partitioner", "partitionerOptions.partitionKey", "partitionerOptions.partitionSizeMB",
    "partitionerOptions.samplesPerPartition", "partitionerOptions.numberOfPartitions", "partitionerOptions.shardKey",
)  # fmt: skip
WRITE_OPTIONS = (
    *_ADDRESS, "replaceDocument", "maxBatchSize", "extendedBsonTypes", "rejectsPath", "forceInsert", "operationType",
    "idFieldList",
)  # fmt: skip
HARMLESS = frozenset(
    {
        "disableupdateuri", "connectionname", "connectiontype", "usecatalogtable", "partitioner", "samplesize",
        "partitioneroptions.partitionkey", "partitioneroptions.partitionsizemb",
    }
)  # fmt: skip
"""Glue's examples give options of a read to writes, too."""

SERVERS = ("mongodb", "documentdb")
# Defaults of MongoDB's connector for Spark, which Glue uses.
PARTITION_MB, SAMPLES, PARTITIONS, BATCH_DOCUMENTS = 64, 10, 64, 512
_BY_SIZE, _BY_COUNT, _SINGLE = "by size", "by count", "single"
PARTITIONERS = {
    **dict.fromkeys(
        (
            "MongoDefaultPartitioner", "MongoSamplePartitioner", "MongoShardedPartitioner",
            "MongoSplitVectorPartitioner", "MongoPaginateBySizePartitioner", "SamplePartitioner", "ShardedPartitioner",
            "PaginateBySizePartitioner", "AutoBucketPartitioner",
        ),
        _BY_SIZE,
    ),
    **dict.fromkeys(("MongoPaginateByCountPartitioner", "PaginateIntoPartitionsPartitioner"), _BY_COUNT),
    **dict.fromkeys(
        ("MongoSinglePartitioner", "MongoSinglePartitionPartitioner", "SinglePartitionPartitioner"), _SINGLE
    ),
}  # fmt: skip
"""The partitioners of the connector's versions, by the way in which they choose the number of partitions."""

_SCHEMES = ("mongodb", "mongodb+srv")
_BAD_DATABASE = re.compile(r'[\s/\\."$*<>:|?\0]')


@dataclass(frozen=True, slots=True)
class Address:
    """A collection.

    Args:
        server: `mongodb` or `documentdb`.
        uri: of the server; it may hold a user and a password.
        database: name of the database.
        collection: name of the collection.
        user: empty to take what the URI has.
        password: empty to take what the URI has.
        ssl: whether connections are encrypted; None to take what the URI has.
        checks_host: whether the server's certificate must name its host.
        retries_writes: whether the client asks the server to recognise repeated writes.
    """

    server: str
    uri: str = field(repr=False)
    database: str
    collection: str
    user: str = ""
    password: str = field(default="", repr=False)
    ssl: bool | None = None
    checks_host: bool = True
    retries_writes: bool = False

    @property
    def hosts(self) -> str:
        """The hosts of the URI, without user and password."""
        return urlsplit(self.uri).netloc.rpartition("@")[2]

    @property
    def where(self) -> str:
        """The collection, for messages."""
        return f"The collection {self.database}.{self.collection} at {self.hosts}"

    def client_options(self) -> dict[str, Any]:
        """Return what the client needs beside the URI."""
        given: dict[str, Any] = {"username": self.user, "password": self.password}
        options = {name: value for name, value in given.items() if value}
        if self.ssl is not None:
            options["tls"] = self.ssl
        if self.ssl and not self.checks_host:
            options["tlsAllowInvalidHostnames"] = True
        return {**options, "retryWrites": self.retries_writes}


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """One write.

    Args:
        address: the collection.
        replaces: whether a document that is there is replaced; False updates the fields of the row only.
        batch_documents: the largest number of documents in a call.
        has_object_ids: whether an `_id` of 24 hexadecimal digits is an ObjectId.
    """

    address: Address
    replaces: bool = True
    batch_documents: int = BATCH_DOCUMENTS
    has_object_ids: bool = True


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """One read.

    Args:
        address: the collection.
        key: the field by whose values the collection is divided.
        partition_bytes: size of a partition; None if their number is given, or there is one.
        partitions: number of partitions; None if their size is given.
        samples: how many documents are looked at for each partition.
        batch_documents: how many documents the server returns at a time; None to leave it to the server.
    """

    address: Address
    key: str = "_id"
    partition_bytes: int | None = PARTITION_MB << 20
    partitions: int | None = None
    samples: int = SAMPLES
    batch_documents: int | None = None


def write_settings(server: str, options: Mapping[str, Any]) -> WriteSettings:
    """Check the options of a write.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    given = ScriptOptions(options)
    given.warn_unknown(WRITE_OPTIONS, HARMLESS)
    operation = given.text("operationType").lower() or "replace"
    if operation not in {"replace", "update"} or given.flag("forceInsert", default=False):
        name = "forceInsert" if operation in {"replace", "update"} else "operationType"
        raise ConfigError(
            f"{name} is {given.text(name)!r}, and a batch that is tried again could not insert its documents a second"
            " time; leave the option out, so that each document is put under its _id."
        )
    if given.text("idFieldList") not in {"", "_id"}:
        raise ConfigError(
            f"idFieldList is {given.text('idFieldList')!r}; documents are put under their _id alone, so give the rows a"
            " field _id that is made of these, and leave the option out."
        )
    return WriteSettings(
        _address(server, given),
        given.flag("replaceDocument", default=operation == "replace"),
        given.count("maxBatchSize") or BATCH_DOCUMENTS,
        given.flag("extendedBsonTypes", default=True),
    )


def read_settings(server: str, options: Mapping[str, Any]) -> ReadSettings:
    """Check the options of a read.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    given = ScriptOptions(options)
    given.warn_unknown(READ_OPTIONS, HARMLESS)
    way = _way(given)
    key = given.text("partitionerOptions.partitionKey") or given.text("partitionerOptions.shardKey") or "_id"
    size_mb = given.count("partitionerOptions.partitionSizeMB") or PARTITION_MB
    number = {_BY_COUNT: given.count("partitionerOptions.numberOfPartitions") or PARTITIONS, _SINGLE: 1}.get(way)
    return ReadSettings(
        _address(server, given),
        key,
        size_mb << 20 if number is None else None,
        number,
        given.count("partitionerOptions.samplesPerPartition") or SAMPLES,
        given.count("batchSize"),
    )


def _way(given: ScriptOptions) -> str:
    name = given.text("partitioner").rpartition(".")[2] or "MongoDefaultPartitioner"
    if name not in PARTITIONERS:
        raise ConfigError(
            f"partitioner is {name!r}; use one of {', '.join(PARTITIONERS)}.{did_you_mean(name, PARTITIONERS)}"
        )
    return PARTITIONERS[name]


def _address(server: str, given: ScriptOptions) -> Address:
    uri = given.text("connection.uri") or given.text("uri")
    if not uri:
        raise ConfigError("connection.uri is missing; give the place of the server, such as mongodb://host:27017.")
    parts = urlsplit(uri)
    if parts.scheme not in _SCHEMES or not parts.netloc:
        raise ConfigError(
            f"connection.uri begins with {uri.partition('@')[0][:12]!r}; write it as mongodb://host:27017."
        )
    # The path of the URI is a database, or a database and a collection.
    database, _, collection = parts.path.strip("/").partition(".")
    database, collection = given.text("database") or database, given.text("collection") or collection
    for name, value in (("database", database), ("collection", collection)):
        if not value:
            raise ConfigError(f"{name} is missing; give connection_options={{'{name}': '...'}}.")
    if _BAD_DATABASE.search(database):
        raise ConfigError(f'database is {database!r}; a name has no spaces and none of /\\."$*<>:|?.')
    if "$" in collection or "\0" in collection:
        raise ConfigError(f"collection is {collection!r}; a name has no $.")
    plain = parts._replace(path="/").geturl() if "." in parts.path else uri
    return Address(
        server,
        plain,
        database,
        collection,
        given.text("username"),
        given.raw("password"),
        given.flag("ssl", default=False) if given.text("ssl") else None,
        given.flag("ssl.domain_match", default=True),
        given.flag("retryWrites", default=False),
    )
