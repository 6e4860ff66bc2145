"""The settings of a read from a database, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.jdbc.endpoint import ENDPOINT_OPTIONS, JdbcEndpoint, without_secrets
from gluepot.connectors.jdbc.redshift_options import REDSHIFT, RedshiftOptions
from gluepot.connectors.jdbc.relation import Query, Table, read_relation
from gluepot.connectors.options import warn_ignored
from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger

HASH_PARTITIONS = 7  # Glue's default (docs/glue 5.7)

KNOWN_OPTIONS = (
    *ENDPOINT_OPTIONS,
    *("connectionName", "useConnectionProperties", "connectionType"),
    "dbtable",
    "tableName",
    "query",
    "sampleQuery",
    "pushDownPredicate",
    "sampleSize",
    "enablePartitioningForSampleQuery",
    "hashfield",
    "hashexpression",
    "hashpartitions",
    "partitionColumn",
    "lowerBound",
    "upperBound",
    "numPartitions",
    "fetchsize",
    "jobBookmarkKeys",
    "jobBookmarksKeys",
    "jobBookmarkKeysSortOrder",
    "jobBookmarksKeysSortOrder",
    "jobBookmarkOverlap",
    "bookmark_key_fields",
    "redshiftTmpDir",
    "aws_iam_role",
    "tempformat",
)
_SECRET = {"password", "sfPassword"}

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HashPartitions:
    """Rows divided among tasks by a hash.

    Args:
        field: a column to hash; None if an expression is given.
        expression: the script's own SQL that computes an integer for each row.
        count: number of tasks.
    """

    field: str | None
    expression: str | None
    count: int = HASH_PARTITIONS


@dataclass(frozen=True, slots=True)
class RangePartitions:
    """Rows divided among tasks by ranges of an integer column."""

    column: str
    lower: int
    upper: int
    count: int


@dataclass(frozen=True, slots=True)
class JdbcReadSettings:
    """One read from a database.

    Args:
        endpoint: the database.
        relation: the table or query to read.
        keys: `jobBookmarkKeys`; empty for the primary key.
        descending: whether new rows have lower keys.
        overlap: how far below the last key to look for late rows; None to look for none. Glue does not have this.
        partitions: how the read is divided among tasks; None for one task.
        description: the options without secrets, from which these settings can be made again with a connection.
        redshift: what only Redshift needs; None for other databases, and for a driver that the script brings.
    """

    endpoint: JdbcEndpoint
    relation: Table | Query
    keys: tuple[str, ...]
    descending: bool
    overlap: str | None
    partitions: HashPartitions | RangePartitions | None
    description: Mapping[str, Any]
    redshift: RedshiftOptions | None = None

    @classmethod
    def from_glue(cls, options: Mapping[str, Any], connection: Mapping[str, str] | None = None) -> JdbcReadSettings:
        """Read Glue's options.

        Args:
            options: `connection_options`.
            connection: `url`, `user`, `password`, ... of the connection that they name; the options override these.

        Raises:
            ConfigError: an option is missing or wrong.
        """
        warn_ignored(log, options, KNOWN_OPTIONS)
        endpoint = JdbcEndpoint.from_options({**(connection or {}), **options})
        unloads = endpoint.vendor == REDSHIFT and not endpoint.driver_jar and not endpoint.driver_class
        return cls(
            endpoint=endpoint,
            redshift=RedshiftOptions.from_options({**(connection or {}), **options}) if unloads else None,
            relation=read_relation({**(connection or {}), **options}),
            keys=_keys(options),
            descending=_descending(options),
            overlap=str(options["jobBookmarkOverlap"]).strip() if options.get("jobBookmarkOverlap") else None,
            partitions=_partitions(options),
            description={name: _plain(value) for name, value in options.items() if name not in _SECRET},
        )


def _keys(options: Mapping[str, Any]) -> tuple[str, ...]:
    if "bookmark_key_fields" in options:
        log.warning("option_spelling", option="bookmark_key_fields", hint="Glue's name for it is jobBookmarkKeys")
    names = ("jobBookmarkKeys", "jobBookmarksKeys", "bookmark_key_fields")
    given = next((options[name] for name in names if options.get(name)), ())
    if isinstance(given, str):
        given = [name for part in given.strip().strip("[]").split(",") if (name := part.strip().strip("\"'"))]
    if not isinstance(given, Sequence) or not all(isinstance(name, str) and name for name in given):
        raise ConfigError(f"jobBookmarkKeys is {given!r}; use a list of column names.")
    return tuple(given)


def _descending(options: Mapping[str, Any]) -> bool:
    given = options.get("jobBookmarkKeysSortOrder") or options.get("jobBookmarksKeysSortOrder") or "asc"
    order = str(given).strip().lower()
    if order not in {"asc", "desc"}:
        raise ConfigError(f"jobBookmarkKeysSortOrder is {given!r}; use asc or desc.")
    return order == "desc"


def _partitions(options: Mapping[str, Any]) -> HashPartitions | RangePartitions | None:
    field, expression = (str(options.get(name) or "") for name in ("hashfield", "hashexpression"))
    if field and expression:
        raise ConfigError("hashfield and hashexpression are both given; remove one of them.")
    if field or expression:
        return HashPartitions(field or None, expression or None, _number(options, "hashpartitions", HASH_PARTITIONS))
    column = str(options.get("partitionColumn") or "")
    if not column:
        return None
    bounds = [_number(options, name, None, least=None) for name in ("lowerBound", "upperBound")]
    return RangePartitions(column, bounds[0], bounds[1], _number(options, "numPartitions", HASH_PARTITIONS))


def _number(options: Mapping[str, Any], name: str, default: int | None, *, least: int | None = 1) -> int:
    given = options.get(name, default)
    try:
        value = int(str(given).strip())
    except ValueError:
        value = None
    if value is None or (least is not None and value < least):
        allowed = "an integer" if least is None else f"an integer of {least} or more"
        raise ConfigError(f"{name} is {given!r}; use {allowed}.")
    return value


def _plain(value: object) -> object:
    if isinstance(value, str):
        return without_secrets(value) if "://" in value else value
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, Sequence) else value
