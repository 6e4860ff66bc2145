"""Turns our descriptions into the objects of Spark's catalog API, and back, through the gateway to the driver's JVM."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql.types import StructType

from gluepot.catalog.values import Database, Partition, Table, database_of
from gluepot.core.errors import ConfigError
from gluepot.core.storage import canonical_url
from gluepot.tables.sql_catalog.descriptions import Buckets, SparkTable

_CATALOG = "org.apache.spark.sql.catalyst.catalog"


class JavaValues:
    """Makes and reads Java objects.

    Args:
        jvm: the view of the driver's JVM.
        hadoop_conf: Hadoop's configuration, by which folders are deleted and made.
    """

    def __init__(self, jvm: Any, hadoop_conf: Any) -> None:
        self.jvm = jvm
        self._hadoop_conf = hadoop_conf
        self._package = jvm.org.apache.spark.sql.catalyst.catalog
        self._members: dict[str, list[str]] = {}

    # -- from Python

    def seq(self, values: Iterable[Any]) -> Any:
        """Return a Scala sequence."""
        return self.jvm.PythonUtils.toSeq(list(values))

    def option(self, value: Any) -> Any:
        """Return Scala's `Option`; None becomes `None`."""
        return self.jvm.scala.Option.apply(value)

    def scala_map(self, values: Mapping[str, str]) -> Any:
        """Return a Scala map."""
        return self.jvm.PythonUtils.toScalaMap(dict(values))

    def database(self, database: Database, default_location: str) -> Any:
        """Return a `CatalogDatabase`."""
        location = str(database.body.get("LocationUri") or "") or default_location
        parameters = self.scala_map(database.body.get("Parameters") or {})
        description = str(database.body.get("Description") or "")
        return self._package.CatalogDatabase(database.name, description, self.path(location).toUri(), parameters)

    def table(self, one: SparkTable) -> Any:
        """Return a `CatalogTable`."""
        return self._made(
            "CatalogTable",
            identifier=self.jvm.org.apache.spark.sql.catalyst.TableIdentifier(one.name, self.option(one.database)),
            tableType=getattr(self._package.CatalogTableType, one.kind)(),
            storage=self._storage(one.location, one.options),
            schema=self.jvm.org.apache.spark.sql.types.DataType.fromJson(one.schema.json()),
            provider=self.option(one.provider),
            partitionColumnNames=self.seq(one.partition_columns),
            bucketSpec=self.option(one.buckets and self._buckets(one.buckets)),
            owner=one.owner,
            createTime=one.created_ms,
            properties=self.scala_map(one.properties),
            viewText=self.option(one.view_text),
            viewOriginalText=self.option(one.view_text),
            comment=self.option(one.comment),
            tracksPartitionsInCatalog=bool(one.partition_columns) and one.provider != "delta",
        )

    def partition(self, table: SparkTable, partition: Partition) -> Any:
        """Return a `CatalogTablePartition`."""
        spec = dict(zip(table.partition_columns, partition.values, strict=True))
        return self._made(
            "CatalogTablePartition",
            spec=self.scala_map(spec),
            storage=self._storage(partition.location, {}),
            parameters=self.scala_map(partition.body.get("Parameters") or {}),
        )

    def path(self, url: str) -> Any:
        """Return Hadoop's `Path`."""
        return self.jvm.org.apache.hadoop.fs.Path(url)

    # -- to Python

    def texts(self, sequence: Any) -> list[str]:
        """Return the elements of a Scala sequence of texts."""
        return [str(one) for one in self.objects(sequence)]

    def objects(self, sequence: Any) -> list[Any]:
        """Return the elements of a Scala sequence."""
        return list(self.jvm.scala.jdk.javaapi.CollectionConverters.asJava(sequence))

    def mapping(self, scala_map: Any) -> dict[str, str]:
        """Return the entries of a Scala map of texts."""
        return dict(self.jvm.scala.jdk.javaapi.CollectionConverters.asJava(scala_map))

    def read_database(self, java: Any) -> Database:
        """Return what a `CatalogDatabase` describes."""
        body = {"Name": java.name(), "Parameters": self.mapping(java.properties())}
        if description := java.description():
            body["Description"] = description
        if location := self._url(java.locationUri()):
            body["LocationUri"] = location
        return database_of(body)

    def read_table(self, java: Any) -> SparkTable:
        """Return what a `CatalogTable` describes."""
        storage, identifier, buckets = java.storage(), java.identifier(), java.bucketSpec()
        return SparkTable(
            database=identifier.database().get(),
            name=identifier.table(),
            kind=java.tableType().name(),
            schema=self.read_schema(java.schema()),
            provider=_some(java.provider()),
            partition_columns=tuple(self.texts(java.partitionColumnNames())),
            location=self._url(_some(storage.locationUri())),
            options=self.mapping(storage.properties()),
            properties=self.mapping(java.properties()),
            buckets=None if buckets.isEmpty() else self._read_buckets(buckets.get()),
            view_text=_some(java.viewText()),
            comment=_some(java.comment()),
            owner=java.owner() or "",
            created_ms=java.createTime(),
        )

    def read_schema(self, java: Any) -> StructType:
        """Return a `StructType` of the JVM."""
        return StructType.fromJson(json.loads(java.json()))

    def read_partition(self, table: Table, names: Iterable[str], java: Any, default_location: str) -> Partition:
        """Return what a `CatalogTablePartition` describes.

        Args:
            table: its table.
            names: the partition columns, as Spark spells them.
            java: the object.
            default_location: the folder of a partition that names none.
        """
        spec, location = self.mapping(java.spec()), self._url(_some(java.storage().locationUri()))
        body = {"StorageDescriptor": {**table.storage.body, "Location": location or default_location}}
        return Partition(tuple(spec[name] for name in names), body)

    # -- folders

    def make_folder(self, url: str) -> None:
        """Make a folder, as Spark makes that of a new table."""
        path = self.path(url)
        path.getFileSystem(self._hadoop_conf).mkdirs(path)

    def delete_folder(self, url: str) -> None:
        """Delete a folder with what it holds."""
        path = self.path(url)
        path.getFileSystem(self._hadoop_conf).delete(path, True)

    def _made(self, name: str, **given: Any) -> Any:
        """Make an instance of a Scala case class; members that are not given have their defaults."""
        kind = getattr(self._package, name)
        if name not in self._members:
            loaded = self.jvm.java.lang.Class.forName(f"{_CATALOG}.{name}")
            self._members[name] = [one.getName() for one in loaded.getConstructors()[0].getParameters()]
        members = enumerate(self._members[name], start=1)
        return kind(*(given[one] if one in given else getattr(kind, f"apply$default${at}")() for at, one in members))

    def _storage(self, location: str, options: Mapping[str, str]) -> Any:
        uri, none = self.option((location and self.path(location).toUri()) or None), self.option(None)
        return self._package.CatalogStorageFormat(uri, none, none, none, False, self.scala_map(options))

    def _buckets(self, buckets: Buckets) -> Any:
        return self._package.BucketSpec(buckets.number, self.seq(buckets.columns), self.seq(buckets.sort_columns))

    def _read_buckets(self, java: Any) -> Buckets:
        columns, sort_columns = self.texts(java.bucketColumnNames()), self.texts(java.sortColumnNames())
        return Buckets(java.numBuckets(), tuple(columns), tuple(sort_columns))

    def _url(self, uri: Any) -> str:
        if uri is None:
            return ""
        text = self.path(uri).toString()
        try:
            return canonical_url(text)
        except ConfigError:  # a file system that only Spark knows
            return str(text)


def _some(option: Any) -> Any:
    return None if option.isEmpty() else option.get()
