"""The record that functions given to Filter and Map see (docs/glue 6.9)."""

from __future__ import annotations

from typing import Any


class DynamicRecord(dict[str, Any]):
    """A dict whose fields are readable and writable as attributes as well; nested dicts are records, too."""

    __slots__ = ()

    @classmethod
    def wrap(cls, value: Any) -> Any:
        """Return the value with every dict in it, at any depth, as a DynamicRecord."""
        if isinstance(value, dict):
            return cls((key, cls.wrap(item)) for key, item in value.items())
        if isinstance(value, list):
            return [cls.wrap(item) for item in value]
        return value

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the record has no field '{name}'; it has {', '.join(self)}.") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(f"the record has no field '{name}'; it has {', '.join(self)}.") from None
