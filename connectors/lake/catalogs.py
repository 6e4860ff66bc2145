"""Maps the Iceberg catalogs of AWS that scripts configure to a catalog that does not need AWS. Pure.

A script configures a catalog by Spark settings, `spark.sql.catalog.<name>` and `spark.sql.catalog.<name>.<property>`.
If these name a service of AWS, they are replaced by Iceberg's JDBC catalog in the database of the Data Catalog
(docs/decisions/0016-iceberg-catalogs-are-tables.md). Settings are only added or replaced, never removed, because Spark
restores removed settings in every new session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

PREFIX = "spark.sql.catalog."
_CATALOG = re.compile(r"spark\.sql\.catalog\.([^.]+)")
_ICEBERG = frozenset({"org.apache.iceberg.spark.SparkCatalog", "org.apache.iceberg.spark.SparkSessionCatalog"})
# The catalog that Iceberg adds to a session at the first `format("iceberg")`; it needs a Hive metastore.
_OWN = "default_iceberg"
_OF_AWS = frozenset(
    {
        "org.apache.iceberg.aws.glue.GlueCatalog",
        "org.apache.iceberg.aws.dynamodb.DynamoDbCatalog",
        "software.amazon.s3tables.iceberg.S3TablesCatalog",
    }
)
_REST = frozenset({"rest", "org.apache.iceberg.rest.RESTCatalog"})
_AWS_HOST = ".amazonaws.com"
_AWS_PACKAGE = "org.apache.iceberg.aws."
_JDBC = "org.apache.iceberg.jdbc.JdbcCatalog"
_S3_FILES, _HADOOP_FILES = "org.apache.iceberg.aws.s3.S3FileIO", "org.apache.iceberg.hadoop.HadoopFileIO"
_LOCK_IN_MEMORY = "org.apache.iceberg.util.LockManagers$InMemoryLockManager"
_S3_SCHEMES = frozenset({"s3", "s3a", "s3n"})


@dataclass(frozen=True, slots=True)
class LocalCatalog:
    """The catalog that replaces those of AWS.

    Args:
        uri: JDBC URL of the database.
        user: user name for the database; empty if there is none.
        password: password of the user; empty if there is none.
        warehouse: folder for the tables of catalogs without a warehouse of their own.
        buckets: folder that replaces S3, with a folder below it for each bucket; None to use S3 itself.
        own_s3: whether the environment names another S3 than Amazon's, where buckets are not host names.
    """

    uri: str
    warehouse: str
    user: str = ""
    password: str = field(default="", repr=False)
    buckets: str | None = None
    own_s3: bool = False


@dataclass(frozen=True, slots=True)
class MappedCatalog:
    """A catalog that was mapped.

    Args:
        name: name of the catalog in the script's SQL.
        was: the class, type or address by which the script named the AWS service.
        uri: JDBC URL of the database that replaces it.
        warehouse: folder for its tables, unless a table has a location of its own.
        left_out: properties that no longer have a meaning.
    """

    name: str
    was: str
    uri: str
    warehouse: str
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mapped:
    """Settings to add or replace, and the catalogs that they change."""

    settings: Mapping[str, str] = field(default_factory=dict)
    catalogs: tuple[MappedCatalog, ...] = ()


def mapped(conf: Mapping[str, str], local: LocalCatalog) -> Mapped:
    """Return the settings that make every Iceberg catalog of AWS local; none if they were mapped before.

    Args:
        conf: Spark settings; only those of catalogs matter.
        local: the catalog that replaces them.
    """
    settings: dict[str, str] = {}
    catalogs = []
    for name in iceberg_catalogs(conf):
        given = _properties(conf, name)
        was = _aws_service(given)
        if was is None:
            continue
        made = _of_database(given, local)
        settings |= {f"{PREFIX}{name}.{key}": value for key, value in made.items()}
        left_out = tuple(sorted(key for key in given if key.startswith(("lock", "glue.", "dynamodb."))))
        catalogs.append(MappedCatalog(name, was, local.uri, made["warehouse"], left_out))
    return Mapped(settings, tuple(catalogs))


def names_aws(conf: Mapping[str, str]) -> bool:
    """Tell whether settings name an Iceberg catalog of AWS."""
    return any(_aws_service(_properties(conf, name)) for name in iceberg_catalogs(conf))


def iceberg_catalogs(conf: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of the Iceberg catalogs in the settings, without the one that Iceberg itself adds."""
    for key, value in conf.items():
        if (match := _CATALOG.fullmatch(key)) and value in _ICEBERG and match[1] != _OWN:
            yield match[1]


def _properties(conf: Mapping[str, str], name: str) -> dict[str, str]:
    prefix = f"{PREFIX}{name}."
    return {key.removeprefix(prefix): value for key, value in conf.items() if key.startswith(prefix)}


def _aws_service(given: Mapping[str, str]) -> str | None:
    """Return the property value that shows that a catalog is a service of AWS; None if it is not."""
    kind = given.get("catalog-impl") or given.get("type", "")
    if kind in _OF_AWS or kind.lower() == "glue":
        return kind
    host = urlsplit(given.get("uri", "")).hostname or ""
    return given["uri"] if kind in _REST and host.endswith(_AWS_HOST) else None


def _of_database(given: Mapping[str, str], local: LocalCatalog) -> dict[str, str]:
    """Return the new properties of a catalog."""
    warehouse = _warehouse(given.get("warehouse", ""), local)
    # A catalog may have a type or a class, not both.
    made = {"type": "jdbc"} if "type" in given and "catalog-impl" not in given else {"catalog-impl": _JDBC}
    made |= {"uri": local.uri, "jdbc.schema-version": "V1", "warehouse": warehouse}
    if local.user:
        made["jdbc.user"] = local.user
    if local.password:
        made["jdbc.password"] = local.password
    made |= file_io(warehouse, given, own_s3=local.own_s3)
    if given.get("lock-impl", "").startswith(_AWS_PACKAGE):
        made["lock-impl"] = _LOCK_IN_MEMORY
    return made


def file_io(url: str, given: Mapping[str, str], *, own_s3: bool) -> dict[str, str]:
    """Return the properties that let Iceberg read and write files at a place.

    Args:
        url: of the place.
        given: the properties that somebody has set.
        own_s3: as in `LocalCatalog`.
    """
    if urlsplit(url).scheme not in _S3_SCHEMES:
        return {"io-impl": _HADOOP_FILES}
    style = {"s3.path-style-access": given.get("s3.path-style-access", "true")} if own_s3 else {}
    return {"io-impl": given.get("io-impl", _S3_FILES), **style}


def _warehouse(given: str, local: LocalCatalog) -> str:
    parts = urlsplit(given)
    if parts.scheme in _S3_SCHEMES:
        return given if local.buckets is None else f"{local.buckets}/{parts.netloc}{parts.path}".rstrip("/")
    is_place = parts.scheme in {"file", "hdfs"} or given.startswith("/")
    return given if is_place else local.warehouse  # the ARN of a table bucket, an account's number, or nothing
