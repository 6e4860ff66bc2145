"""What becomes of values whose type their column does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from gluepot.core.errors import ConfigError, did_you_mean

OPTION = "typeDrift"


class Drift(Enum):
    """The policies; values are those of the option `typeDrift`."""

    WIDEN = "widen"
    """Into the column where that is exact: int into long, long into double, date into timestamp; else as COLUMNS."""
    COLUMNS = "columns"
    """Into a column of their own beside it, `price_string`, as Glue's make_cols does; the first type keeps the name."""
    STRING = "string"
    """As text, into the column if it holds strings, else into one text column beside it."""
    RESCUE = "rescue"
    """Into the column `_rescued`, a JSON object per row with what did not fit."""
    REJECT = "reject"
    """The whole record goes to the rejected ones, reason `type_drift`."""


@dataclass(frozen=True, slots=True)
class DriftPolicy:
    """A policy for each column.

    Args:
        default: of columns that are not named.
        by_column: of those that are.
    """

    default: Drift = Drift.WIDEN
    by_column: Mapping[str, Drift] = field(default_factory=dict)

    def of(self, column: str) -> Drift:
        """Return the policy of a top-level column; what lies within it shares its fate."""
        return self.by_column.get(column, self.default)

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> DriftPolicy:
        """Read `typeDrift` and `typeDrift.<column>`.

        Raises:
            ConfigError: a value is none of the policies.
        """
        prefix = f"{OPTION}."
        named = {
            key.removeprefix(prefix): _policy(key, value) for key, value in options.items() if key.startswith(prefix)
        }
        return cls(_policy(OPTION, options.get(OPTION, Drift.WIDEN.value)), named)


def _policy(option: str, value: object) -> Drift:
    known = [one.value for one in Drift]
    name = str(value).lower()
    if name not in known:
        raise ConfigError(f"{option} is {value!r}; use one of {', '.join(known)}.{did_you_mean(name, known)}")
    return Drift(name)
