"""What a crawler is told, in the words of the API, checked once (docs/glue 11.6). Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from gluepot.connectors.files.source.globs import Globs, compile_globs
from gluepot.core.errors import ConfigError
from gluepot.core.option_values import is_true
from gluepot.core.storage import S3Root, parse_url
from gluepot.crawl.classify.custom import Custom

Update = Literal["UPDATE_IN_DATABASE", "LOG"]
Delete = Literal["DEPRECATE_IN_DATABASE", "DELETE_FROM_DATABASE", "LOG"]

EVERYTHING, NEW_FOLDERS, EVENTS = "CRAWL_EVERYTHING", "CRAWL_NEW_FOLDERS_ONLY", "CRAWL_EVENT_MODE"
_MOST_SAMPLES = 249
_OF_FILES, _OF_LAKES = "S3Targets", {"DeltaTargets": "DeltaTables", "IcebergTargets": "Paths"}
_OF_TABLES = "CatalogTargets"
_OF_DATABASES = "JdbcTargets"
_ADDITIONAL = ("COMMENTS", "RAWTYPES")
_OF_DYNAMODB = "DynamoDBTargets"
_OF_MONGODB = "MongoDBTargets"
_LATER = ("HudiTargets",)
_LEAST_RATE, _MOST_RATE, _USUAL_RATE = 0.1, 1.5, 0.5
# A path names a schema and a table below the database.
_DEEPEST = 2
_QUEUE, _DEAD_LETTERS = "EventQueueArn", "DlqEventQueueArn"
_QUEUE_ARN = re.compile(r"arn:[\w-]+:sqs:(?P<region>[\w-]*):(?P<account>\d*):(?P<name>[\w.-]+)", re.ASCII)
_MERGE_NEW, _INHERIT, _COMBINE = "MergeNewColumns", "InheritFromTable", "CombineCompatibleSchemas"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a crawl looks.

    Args:
        url: of a folder or a file.
        exclusions: globs relative to it.
        sample_size: how many files of each folder are read; None for all.
        tables: names of the tables of the catalog that lie there; empty for a target that may make tables.
        queue: ARN of the queue that gets the events of the folder; empty for none.
        dead_letters: ARN of the queue for messages that are not understood; empty for none.
    """

    url: str
    exclusions: tuple[str, ...] = ()
    sample_size: int | None = None
    tables: tuple[str, ...] = ()
    queue: str = ""
    dead_letters: str = ""

    def excludes(self, key: str) -> bool:
        """Tell whether a file is left out, by its path below the target."""
        globs = _compiled(self.exclusions)
        return globs is not None and globs.search(f"/{key}")


@lru_cache(maxsize=64)
def _compiled(globs: tuple[str, ...]) -> Globs | None:
    # A glob that begins with a slash is about the whole path, as a crawler's globs are.
    return compile_globs([f"/{glob}" for glob in globs])


@dataclass(frozen=True, slots=True)
class QueueArn:
    """What the ARN of a queue says.

    Args:
        region: of the queue; empty if the ARN has none.
        account: that owns it; empty if the ARN has none.
        name: of the queue.
    """

    region: str
    account: str
    name: str


def read_queue_arn(arn: str, member: str = _QUEUE) -> QueueArn:
    """Read the ARN of a queue.

    Args:
        arn: such as `arn:aws:sqs:eu-central-1:123456789012:lake-events`.
        member: of the target, for the error.

    Raises:
        ConfigError: it is not the ARN of a queue of SQS.
    """
    found = _QUEUE_ARN.fullmatch(arn)
    if found is None:
        raise ConfigError(
            f"{member} is {arn!r}; write the ARN of a queue, such as arn:aws:sqs:eu-central-1:123456789012:lake-events."
        )
    return QueueArn(**found.groupdict())


@dataclass(frozen=True, slots=True)
class JdbcTarget:
    """Tables of a database.

    Args:
        connection: name of the connection that leads to it.
        database: its name.
        pattern: schema and table, or a table alone; `%` stands for any text.
        exclusions: globs of `schema/table`, or of tables where there are no schemas.
        keeps_comments: the comments of tables and columns go to the catalog.
        keeps_raw_types: so do the database's own names of types.
    """

    connection: str
    database: str
    pattern: tuple[str, ...]
    exclusions: tuple[str, ...] = ()
    keeps_comments: bool = False
    keeps_raw_types: bool = False

    @property
    def title(self) -> str:
        """The target in messages."""
        return f"jdbc:{self.connection}/{self.database}/{'/'.join(self.pattern)}"


@dataclass(frozen=True, slots=True)
class DynamodbTarget:
    """A table of DynamoDB.

    Args:
        table: its name or ARN.
        scans_all: whether all items tell the columns, and not a sample.
        scan_rate: the part of the table's read capacity that the crawl may use.
    """

    table: str
    scans_all: bool = True
    scan_rate: float = _USUAL_RATE

    @property
    def title(self) -> str:
        """The target in messages."""
        return f"dynamodb:{self.table}"


@dataclass(frozen=True, slots=True)
class MongodbTarget:
    """Collections of MongoDB or DocumentDB.

    Args:
        connection: name of the connection that leads to the server.
        database: its name.
        pattern: a collection; `%` stands for any text.
        scans_all: whether all documents tell the columns, and not a sample.
    """

    connection: str
    database: str
    pattern: str
    scans_all: bool = True

    @property
    def title(self) -> str:
        """The target in messages."""
        return f"mongodb:{self.connection}/{self.database}/{self.pattern}"


@dataclass(frozen=True, slots=True)
class CatalogTarget:
    """Tables of the catalog that a crawl brings up to date.

    Args:
        database: of the tables.
        tables: their names.
    """

    database: str
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """What a crawler is told.

    Args:
        name: of the crawler; written into the tables that it makes.
        database: that gets the tables.
        targets: folders and files.
        jdbc_targets: tables of databases.
        dynamodb_targets: tables of DynamoDB.
        mongodb_targets: collections of MongoDB.
        catalog_targets: tables of the catalog instead.
        prefix: of the names of tables.
        classifiers: of one's own, in order.
        update: what happens to tables that have changed.
        delete: what happens to tables and partitions whose files are gone.
        recrawl: whether later crawls look at everything.
        merge_new_columns: tables only gain columns.
        inherit: partitions have the columns and the format of their table.
        combine: similarity does not matter.
        table_level: the level at which folders are tables; None lets the files tell.
        table_threshold: the largest number of tables; None for any number.
        partition_index: new tables with partition keys get an index over them.
    """

    name: str
    database: str
    targets: tuple[Target, ...] = ()
    jdbc_targets: tuple[JdbcTarget, ...] = ()
    dynamodb_targets: tuple[DynamodbTarget, ...] = ()
    mongodb_targets: tuple[MongodbTarget, ...] = ()
    catalog_targets: tuple[CatalogTarget, ...] = ()
    prefix: str = ""
    classifiers: tuple[Custom, ...] = field(default=())
    update: Update = "UPDATE_IN_DATABASE"
    delete: Delete = "DEPRECATE_IN_DATABASE"
    recrawl: str = EVERYTHING
    merge_new_columns: bool = False
    inherit: bool = False
    combine: bool = False
    table_level: int | None = None
    table_threshold: int | None = None
    partition_index: bool = True

    @property
    def database_targets(self) -> tuple[JdbcTarget | DynamodbTarget | MongodbTarget, ...]:
        """The targets that are no files."""
        return (*self.jdbc_targets, *self.dynamodb_targets, *self.mongodb_targets)


def crawl_settings(given: Mapping[str, Any], classifiers: Sequence[Custom] = ()) -> CrawlSettings:
    """Read a crawler as CreateCrawler takes it.

    Args:
        given: its members.
        classifiers: those that it names, in order.

    Raises:
        ConfigError: members contradict each other, or name what cannot be crawled here.
    """
    targets = given.get("Targets") or {}
    _check_kinds(targets)
    files = tuple(_target(one) for one in targets.get(_OF_FILES) or ())
    lakes = tuple(
        Target(path, tuple(one.get("Exclusions") or ()))
        for kind, paths in _OF_LAKES.items()
        for one in targets.get(kind) or ()
        for path in one.get(paths) or ()
    )
    tables = tuple(CatalogTarget(one["DatabaseName"], tuple(one["Tables"])) for one in targets.get(_OF_TABLES) or ())
    policy, recrawl = given.get("SchemaChangePolicy") or {}, (given.get("RecrawlPolicy") or {}).get("RecrawlBehavior")
    settings = CrawlSettings(
        name=str(given["Name"]),
        database=str(given.get("DatabaseName") or "").lower(),
        targets=(*files, *lakes),
        jdbc_targets=tuple(map(_jdbc_target, targets.get(_OF_DATABASES) or ())),
        dynamodb_targets=tuple(map(_dynamodb_target, targets.get(_OF_DYNAMODB) or ())),
        mongodb_targets=tuple(map(_mongodb_target, targets.get(_OF_MONGODB) or ())),
        catalog_targets=tables,
        prefix=str(given.get("TablePrefix") or ""),
        classifiers=tuple(classifiers),
        update=policy.get("UpdateBehavior") or "UPDATE_IN_DATABASE",
        delete=policy.get("DeleteBehavior") or "DEPRECATE_IN_DATABASE",
        recrawl=recrawl or EVERYTHING,
        **_configuration(given.get("Configuration")),
    )
    return _checked(settings)


def _check_kinds(targets: Mapping[str, Any]) -> None:
    if later := [name for name in _LATER if targets.get(name)]:
        raise ConfigError(
            f"Targets has {later[0]}, which cannot be crawled yet; use S3Targets, JdbcTargets, DynamoDBTargets,"
            " MongoDBTargets, DeltaTargets, IcebergTargets or CatalogTargets, or describe the tables with"
            " `gluepot catalog create-table`."
        )


def _target(given: Mapping[str, Any]) -> Target:
    sample = given.get("SampleSize")
    if sample is not None and not 1 <= sample <= _MOST_SAMPLES:
        raise ConfigError(f"SampleSize is {sample}; use 1 to {_MOST_SAMPLES}, or leave it out to read all files.")
    path = str(given.get("Path") or "")
    parse_url(path)
    queue, dead_letters = (_queue(given, member) for member in (_QUEUE, _DEAD_LETTERS))
    return Target(path, tuple(given.get("Exclusions") or ()), sample, queue=queue, dead_letters=dead_letters)


def _queue(given: Mapping[str, Any], member: str) -> str:
    arn = str(given.get(member) or "")
    if arn:
        read_queue_arn(arn, member)
    return arn


def _jdbc_target(given: Mapping[str, Any]) -> JdbcTarget:
    path, more = str(given.get("Path") or ""), tuple(given.get("EnableAdditionalMetadata") or ())
    database, *pattern = path.strip("/").split("/")
    if not given.get("ConnectionName"):
        raise ConfigError("A target of JdbcTargets has no ConnectionName; name a connection of the type JDBC.")
    if not database or "%" in database or not 1 <= len(pattern) <= _DEEPEST or not all(pattern):
        raise ConfigError(
            f"Path in JdbcTargets is {path!r}; write database/schema/table, or database/table where there are no"
            " schemas, with % for any schema or table."
        )
    if odd := [one for one in more if one not in _ADDITIONAL]:
        raise ConfigError(f"EnableAdditionalMetadata has {odd[0]!r}; use {' or '.join(_ADDITIONAL)}.")
    return JdbcTarget(
        str(given["ConnectionName"]),
        database,
        tuple(pattern),
        tuple(given.get("Exclusions") or ()),
        keeps_comments="COMMENTS" in more,
        keeps_raw_types="RAWTYPES" in more,
    )


def _dynamodb_target(given: Mapping[str, Any]) -> DynamodbTarget:
    table, rate = str(given.get("Path") or ""), given.get("scanRate")
    if not table:
        raise ConfigError("A target of DynamoDBTargets has no Path; give the name of a table.")
    if rate is not None and not _LEAST_RATE <= rate <= _MOST_RATE:
        raise ConfigError(f"scanRate is {rate}; use a number from {_LEAST_RATE} to {_MOST_RATE}, or omit it.")
    scans_all = given.get("scanAll")
    return DynamodbTarget(table, scans_all is None or bool(scans_all), _USUAL_RATE if rate is None else float(rate))


def _mongodb_target(given: Mapping[str, Any]) -> MongodbTarget:
    path, scans_all = str(given.get("Path") or ""), given.get("ScanAll")
    database, _, pattern = path.strip("/").partition("/")
    if not given.get("ConnectionName"):
        raise ConfigError("A target of MongoDBTargets has no ConnectionName; name a connection of the type MONGODB.")
    if not database or "%" in database or not pattern or "/" in pattern:
        raise ConfigError(
            f"Path in MongoDBTargets is {path!r}; write database/collection, with % for any text in a collection's"
            " name."
        )
    return MongodbTarget(str(given["ConnectionName"]), database, pattern, scans_all is None or bool(scans_all))


def _checked(settings: CrawlSettings) -> CrawlSettings:
    makes = bool(settings.targets or settings.database_targets)
    if not makes and not settings.catalog_targets:
        raise ConfigError("Targets is empty; name at least one folder, such as S3Targets=[{Path: s3://bucket/folder}].")
    if makes and settings.catalog_targets:
        raise ConfigError("CatalogTargets cannot be mixed with other targets; make a crawler for each.")
    if makes and not settings.database:
        raise ConfigError("DatabaseName is missing; name the database that gets the tables.")
    if settings.catalog_targets and settings.delete != "LOG":
        raise ConfigError("A crawler of CatalogTargets makes and deletes no tables; set DeleteBehavior to LOG.")
    if settings.recrawl in {NEW_FOLDERS, EVENTS} and (settings.catalog_targets or settings.database_targets):
        kinds = {
            _OF_TABLES: settings.catalog_targets,
            _OF_DATABASES: settings.jdbc_targets,
            _OF_DYNAMODB: settings.dynamodb_targets,
            _OF_MONGODB: settings.mongodb_targets,
        }
        other = next(kind for kind, some in kinds.items() if some)
        raise ConfigError(f"RecrawlBehavior {settings.recrawl} needs S3Targets; use {EVERYTHING} for {other}.")
    if settings.recrawl == EVENTS:
        _check_events(settings.targets)
    if settings.recrawl == NEW_FOLDERS:
        # Glue forces both, whatever the crawler says: a crawl of new folders looks at nothing that it knows.
        return replace(settings, update="LOG", delete="LOG")
    return settings


def _check_events(targets: Iterable[Target]) -> None:
    for target in targets:
        if not target.queue:
            raise ConfigError(
                f"The target {target.url} has no {_QUEUE}, which RecrawlBehavior {EVENTS} needs; give the ARN of the"
                f" queue that gets its events, or use {NEW_FOLDERS}."
            )
        if not isinstance(parse_url(target.url), S3Root):
            raise ConfigError(
                f"The target {target.url} is not in S3, so it sends no events for RecrawlBehavior {EVENTS}; use"
                f" {NEW_FOLDERS}."
            )


def _configuration(text: object) -> dict[str, Any]:
    """Read the member `Configuration`, which is JSON."""
    try:
        given = json.loads(str(text)) if text else {}
    except ValueError as error:
        raise ConfigError(f"Configuration is no JSON ({error}); correct it.") from error
    if not isinstance(given, dict) or any(
        not isinstance(one, dict) for one in (_of(given, "CrawlerOutput"), _of(given, "Grouping"))
    ):
        raise ConfigError('Configuration is not an object such as {"Version": 1.0, "Grouping": {...}}; correct it.')
    if given and given.get("Version") != 1:
        raise ConfigError(f"Configuration has the Version {given.get('Version')!r}; use 1.0.")
    tables, partitions = _of(_of(given, "CrawlerOutput"), "Tables"), _of(_of(given, "CrawlerOutput"), "Partitions")
    grouping = _of(given, "Grouping")
    return {
        "merge_new_columns": _is(tables, "AddOrUpdateBehavior", _MERGE_NEW),
        "inherit": _is(partitions, "AddOrUpdateBehavior", _INHERIT),
        "combine": _is(grouping, "TableGroupingPolicy", _COMBINE),
        "table_level": _number(grouping, "TableLevelConfiguration"),
        "table_threshold": _number(tables, "TableThreshold"),
        "partition_index": is_true(given.get("CreatePartitionIndex", True)),
    }


def _of(given: Mapping[str, Any], member: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = given.get(member) or {}
    return found


def _is(given: Mapping[str, Any], member: str, only: str) -> bool:
    value = given.get(member)
    if value not in {None, only}:
        raise ConfigError(f"{member} in Configuration is {value!r}; use {only!r}, or omit it.")
    return value == only


def _number(given: Mapping[str, Any], member: str) -> int | None:
    value = given.get(member)
    if value is None:
        return None
    try:
        number = int(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{member} in Configuration is {value!r}; use an integer from 1 on.") from error
    if number < 1:
        raise ConfigError(f"{member} in Configuration is {number}; use an integer from 1 on.")
    return number
