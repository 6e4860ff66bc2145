"""Option values as scripts and people spell them: Glue takes texts, booleans and numbers alike. Pure.

The rule is in docs/glue/README.md, under "Typing of option values".
"""

from __future__ import annotations

from collections.abc import Collection, ItemsView, Iterator, Mapping
from typing import Any

from gluepot.core.errors import ConfigError

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})


def truth(value: object) -> bool | None:
    """Return what a value says, in any letter case; None where it says neither true nor false."""
    text = str(value).strip().lower()
    return True if text in _TRUE else False if text in _FALSE else None


def is_true(value: object) -> bool:
    """Tell whether a value says true, for options of which Glue takes any other value for false."""
    return truth(value) is True


def flag(options: Mapping[str, Any], name: str, *, default: bool = False) -> bool:
    """Return a switch; an empty text switches it off.

    Raises:
        ConfigError: neither true nor false.
    """
    given = options.get(name, default)
    said = False if given == "" else truth(given)
    if said is None:
        raise ConfigError(f"{name} is {given!r}; use true or false")
    return said


def number(options: Mapping[str, Any], name: str, *, least: int = 1) -> int | None:
    """Return an integer; None where the option is absent or empty.

    Raises:
        ConfigError: no integer, or below the least allowed.
    """
    given = options.get(name)
    if given is None or given == "":
        return None
    try:
        value = int(str(given).strip())
    except ValueError:
        value = least - 1
    if value < least:
        raise ConfigError(f"{name} is {given!r}; use an integer of {least} or more")
    return value


class SeenOptions(Mapping[str, Any]):
    """Options that remember which names a reader or writer has asked for. The other names mean nothing to it.

    Args:
        options: as a script gives them.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return self._options[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def items(self) -> ItemsView[str, Any]:
        """Return all options; who looks through them has not asked for each."""
        return self._options.items()

    def ignored(self, harmless: Collection[str] = ()) -> list[str]:
        """Return the names that nobody asked for.

        Args:
            harmless: names that have no effect here and change no data.
        """
        return [name for name in self._options if name not in self.asked and name not in harmless]
