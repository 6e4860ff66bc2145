"""The settings of a write to a database, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from gluepot.connectors.jdbc.endpoint import ENDPOINT_OPTIONS, JdbcEndpoint
from gluepot.connectors.jdbc.redshift_options import REDSHIFT, RedshiftOptions
from gluepot.connectors.options import warn_ignored
from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.logging import get_logger
from gluepot.core.option_values import is_true

KNOWN_OPTIONS = (
    *ENDPOINT_OPTIONS,
    "connectionName",
    "useConnectionProperties",
    "connectionType",
    "dbtable",
    "tableName",
    "mode",
    "overwrite",
    "upsertKeys",
    "preactions",
    "postactions",
    "bulkSize",
    "redshiftTmpDir",
    "aws_iam_role",
    "extracopyoptions",
    "tempformat",
)

BATCH_ROWS = 10_000

log = get_logger(__name__)


class Mode(Enum):
    """What happens to the existing rows of the table."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    UPSERT = "upsert"


@dataclass(frozen=True, slots=True)
class JdbcWriteSettings:
    """One table to write.

    Args:
        endpoint: the database.
        table: the table as the script names it.
        mode: what happens to its existing rows.
        keys: columns by which an upsert finds the row to replace; empty for the primary key.
        preactions: SQL run before the rows are written, in the same transaction.
        postactions: SQL run after it, in the same transaction.
        redshift: what only Redshift needs; None for other databases.
        temp_dir: folder for rows that are not published yet, if the database is written by way of files; may be empty.
        batch_rows: rows of one INSERT of a Java driver.
    """

    endpoint: JdbcEndpoint
    table: str
    mode: Mode = Mode.APPEND
    keys: tuple[str, ...] = ()
    preactions: str = ""
    postactions: str = ""
    redshift: RedshiftOptions | None = None
    temp_dir: str = ""
    batch_rows: int = BATCH_ROWS

    @classmethod
    def from_glue(cls, options: Mapping[str, Any], connection: Mapping[str, str] | None = None) -> JdbcWriteSettings:
        """Read Glue's options, and ours: `mode` and `upsertKeys`.

        Args:
            options: `connection_options`.
            connection: `url`, `user`, `password`, ... of the connection that they name; the options override these.

        Raises:
            ConfigError: an option is missing or wrong.
        """
        warn_ignored(log, options, KNOWN_OPTIONS)
        table = str(options.get("dbtable") or options.get("tableName") or "").strip()
        if not table:
            raise ConfigError("The write has no dbtable; give connection_options={'dbtable': 'schema.table', ...}.")
        endpoint = JdbcEndpoint.from_options({**(connection or {}), **options})
        return cls(
            endpoint=endpoint,
            table=table,
            mode=_mode(options),
            keys=_names(options, "upsertKeys"),
            preactions=str(options.get("preactions") or ""),
            postactions=str(options.get("postactions") or ""),
            redshift=RedshiftOptions.from_options({**(connection or {}), **options})
            if endpoint.vendor == REDSHIFT
            else None,
            temp_dir=str({**(connection or {}), **options}.get("redshiftTmpDir") or "").rstrip("/"),
            batch_rows=_number(options, "bulkSize", BATCH_ROWS),
        )


def _mode(options: Mapping[str, Any]) -> Mode:
    default = Mode.UPSERT if options.get("upsertKeys") else Mode.APPEND
    if is_true(options.get("overwrite")):
        default = Mode.OVERWRITE
    given = options.get("mode") or default.value
    try:
        return Mode(str(given).lower())
    except ValueError:
        names = ", ".join(mode.value for mode in Mode)
        raise ConfigError(
            f"mode is {given!r}; use one of {names}.{did_you_mean(str(given), names.split(', '))}"
        ) from None


def _number(options: Mapping[str, Any], option: str, default: int) -> int:
    given = str(options.get(option) or default).strip()
    if not given.isdecimal() or int(given) < 1:
        raise ConfigError(f"{option} is {given!r}; use an integer of 1 or more.")
    return int(given)


def _names(options: Mapping[str, Any], option: str) -> tuple[str, ...]:
    given = options.get(option) or ()
    if isinstance(given, str):
        given = [name.strip() for name in given.strip("[]").split(",") if name.strip()]
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise ConfigError(f"{option} is {given!r}; use a list of column names.")
    return tuple(given)
