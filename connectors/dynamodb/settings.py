"""Glue's options of reads and writes of DynamoDB (docs/glue 5.7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.aws.clients import ADDRESS_OPTIONS, Address
from gluepot.connectors.options import ScriptOptions
from gluepot.core.errors import ConfigError

ROLE_OPTIONS = ("dynamodb.sts.roleArn", "dynamodb.sts.roleSessionName")
READ_OPTIONS = (
    "dynamodb.input.tableName", "dynamodb.region", "dynamodb.throughput.read.percent", "dynamodb.splits",
    "dynamodb.consistentRead", *ROLE_OPTIONS, *ADDRESS_OPTIONS,
)  # fmt: skip
WRITE_OPTIONS = (
    "dynamodb.output.tableName", "dynamodb.region", "dynamodb.throughput.write.percent",
    "dynamodb.output.numParallelTasks", "rejectsPath", *ROLE_OPTIONS, *ADDRESS_OPTIONS,
)  # fmt: skip
HARMLESS = frozenset({"dynamodb.output.retry", "connectionname", "connectiontype", "usecatalogtable"})
"""Writes are tried again by time and not by number, see `gluepot.connectors.documents.bulk`."""

MOST_SPLITS = 1_000_000
_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
_ARN = re.compile(r"arn:[\w-]+:dynamodb:(?P<region>[\w-]*):\d*:table/(?P<name>[\w.-]+)")


@dataclass(frozen=True, slots=True)
class TableAddress:
    """A table.

    Args:
        name: name of the table.
        address: where DynamoDB is.
    """

    name: str
    address: Address

    @property
    def where(self) -> str:
        """The table, for messages."""
        return f"DynamoDB table {self.name}"


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """One read.

    Args:
        table: the table.
        splits: how many tasks scan the table, each a segment.
        share: the part of the table's read capacity that all tasks together use, such as 0.5.
        is_consistent: whether the scan sees every write that was acknowledged before it.
    """

    table: TableAddress
    splits: int
    share: float
    is_consistent: bool


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """One write.

    Args:
        table: the table.
        share: the part of the table's write capacity that all tasks together use, such as 0.5.
        tasks: among how many tasks that part is divided.
    """

    table: TableAddress
    share: float
    tasks: int


def read_settings(options: Mapping[str, Any]) -> ReadSettings:
    """Check the options of a read.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    given = ScriptOptions(options)
    given.warn_unknown(READ_OPTIONS, HARMLESS)
    splits = given.count("dynamodb.splits") or 1
    if splits > MOST_SPLITS:
        raise ConfigError(f"dynamodb.splits is {splits}; use at most {MOST_SPLITS}.")
    return ReadSettings(
        table_address(given, "dynamodb.input.tableName"),
        splits,
        _share(given, "dynamodb.throughput.read.percent"),
        given.flag("dynamodb.consistentRead", default=False),
    )


def write_settings(options: Mapping[str, Any]) -> WriteSettings:
    """Check the options of a write.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    given = ScriptOptions(options)
    given.warn_unknown(WRITE_OPTIONS, HARMLESS)
    return WriteSettings(
        table_address(given, "dynamodb.output.tableName"),
        _share(given, "dynamodb.throughput.write.percent"),
        given.count("dynamodb.output.numParallelTasks") or 1,
    )


def table_address(given: ScriptOptions, option: str) -> TableAddress:
    """Return the table that an option names, by name or ARN.

    Raises:
        ConfigError: it names none.
    """
    name = given.text(option)
    region = given.text("dynamodb.region")
    if found := _ARN.fullmatch(name):
        name, region = found["name"], found["region"] or region
    if not name:
        raise ConfigError(f"{option} is missing; give connection_options={{'{option}': 'a table'}}.")
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{option} is {name!r}; use the name or the ARN of a table.")
    role = "dynamodb.sts.roleArn" if given.text("dynamodb.sts.roleArn") else "awsSTSRoleARN"
    return TableAddress(name, Address.of(given, region=region, role=role))


def _share(given: ScriptOptions, option: str) -> float:
    text = given.text(option) or "0.5"
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.1 <= share <= 1.5:
        raise ConfigError(f"{option} is {text!r}; use a number from 0.1 to 1.5.")
    return share
