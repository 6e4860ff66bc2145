"""Translates the options that choose a state of an Iceberg table to those that Iceberg still accepts. Pure.

Iceberg's builds for Spark 4.1 refuse `snapshot-id`, `as-of-timestamp` and `tag`, which Glue's guide and the scripts of
its earlier versions use, in favour of Spark's `versionAsOf` and `timestampAsOf`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from gluepot.core.errors import ConfigError

_VERSIONS = ("snapshot-id", "tag", "versionAsOf")
_TIMES = ("as-of-timestamp", "timestampAsOf")
_IN_MILLIS = "as-of-timestamp"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def spark_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a read; those that choose a state get Spark's names, the others stay as they are.

    Args:
        options: options of a reader; the case of their names does not matter.

    Raises:
        ConfigError: more than one option chooses a state, or a time is not a number of milliseconds.
    """
    words = {word.lower(): word for word in (*_VERSIONS, *_TIMES)}
    chosen = {words[name.lower()]: value for name, value in options.items() if name.lower() in words}
    if len(chosen) > 1:
        raise ConfigError(f"{' and '.join(sorted(chosen))} each choose a state of the table; give one of them.")
    kept = {name: value for name, value in options.items() if name.lower() not in words}
    for word, value in chosen.items():
        if word in _VERSIONS:
            kept["versionAsOf"] = value
        else:
            kept["timestampAsOf"] = _of_millis(value) if word == _IN_MILLIS else value
    return kept


def timestamp_text(epoch_ms: int) -> str:
    """Return a time as text that Spark reads in the same way in every time zone of a session.

    Args:
        epoch_ms: milliseconds since 1970 UTC.

    Raises:
        OverflowError: the year has more than four digits.
    """
    return (_EPOCH + timedelta(milliseconds=epoch_ms)).isoformat(sep=" ", timespec="milliseconds")


def _of_millis(value: Any) -> str:
    try:
        return timestamp_text(int(value))
    except (OverflowError, TypeError, ValueError):
        raise ConfigError(
            f"{_IN_MILLIS} is {value!r}; give milliseconds since 1970 UTC, or timestampAsOf='2026-01-31 12:00:00'."
        ) from None
