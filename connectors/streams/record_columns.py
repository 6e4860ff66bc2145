"""The option `addRecordColumns`: columns that say where a record of a stream came from. Pure.

Glue's streaming frames hold only the payload (docs/glue 3.5). A frame over several topics needs the topic as well, to
route its rows. The columns have the names and the types that Spark's own source gives them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gluepot.core.errors import ConfigError, did_you_mean

OPTION = "addRecordColumns"
_ENTRY = re.compile(r"(?P<of>\w+)(?:\s+as\s+(?P<name>\w+))?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class RecordColumn:
    """A column that the option adds.

    Args:
        of: what it holds, in the words of Spark's source, such as `topic`.
        name: its name in the frame.
    """

    of: str
    name: str


def record_columns(text: str, known: Sequence[str]) -> tuple[RecordColumn, ...]:
    """Return the columns that a value of the option asks for.

    Args:
        text: the value, such as `topic, offset AS source_offset`; empty for none.
        known: what the source can add.

    Raises:
        ConfigError: the value is malformed, or names an unknown column.
    """
    return tuple(_column(entry.strip(), text, known) for entry in text.split(",")) if text else ()


def _column(entry: str, text: str, known: Sequence[str]) -> RecordColumn:
    parts = _ENTRY.fullmatch(entry)
    if parts is None:
        raise ConfigError(f"{OPTION} is {text!r}; use a list such as {known[0]} or {known[0]} AS source.")
    of = next((name for name in known if name.lower() == parts["of"].lower()), None)
    if of is None:
        raise ConfigError(
            f"{OPTION} is {text!r}, and the source has no {parts['of']!r}; use some of {', '.join(known)}."
            f"{did_you_mean(parts['of'], known)}"
        )
    return RecordColumn(of, parts["name"] or of)


def check_distinct(columns: Sequence[RecordColumn], others: Collection[str]) -> None:
    """Refuse columns that have the name of another column; letter case makes no difference to Spark.

    Args:
        columns: the columns that the option adds.
        others: the names of the frame's other columns.

    Raises:
        ConfigError: two columns have one name.
    """
    names = {name.casefold() for name in others}
    for column in columns:
        if column.name.casefold() in names:
            raise ConfigError(
                f"{OPTION} adds a column {column.name!r}, and the frame has one already; rename it, for example"
                f" {column.of} AS source_{column.of}."
            )
        names.add(column.name.casefold())
