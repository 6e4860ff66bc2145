"""Keys of items: what a table wants of them, and which of several items of one key is the newest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_KINDS = {"S": "text", "N": "a number", "B": "binary"}


@dataclass(frozen=True, slots=True)
class Keys:
    """The key attributes of a table, the partition key first, with their types: S, N or B."""

    kinds: Mapping[str, str]

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Keys:
        """Read them from `Table` of DescribeTable."""
        kinds = {one["AttributeName"]: one["AttributeType"] for one in table["AttributeDefinitions"]}
        return cls({one["AttributeName"]: kinds[one["AttributeName"]] for one in table["KeySchema"]})

    def fault(self, item: Mapping[str, Mapping[str, Any]]) -> str:
        """Return what is wrong with the key of an item, as a clause; empty if nothing is."""
        for name, kind in self.kinds.items():
            held = item.get(name)
            if held is None:
                return f"it has no {name}, which is part of the table's key"
            if kind not in held:
                return f"its {name} is not {_KINDS[kind]}, as the table's key wants it"
            if not held[kind]:
                return f"its {name} is empty, and no part of a key may be"
        return ""

    def of_item(self, item: Mapping[str, Mapping[str, Any]]) -> tuple[Any, ...]:
        """Return the values of an item's key."""
        return tuple(item[name][kind] for name, kind in self.kinds.items())


def newest(keys: Keys, items: Sequence[Mapping[str, Mapping[str, Any]]]) -> list[int]:
    """Return the indices of the items that are left if each replaces the ones of its key before it, ascending."""
    return sorted({keys.of_item(item): at for at, item in enumerate(items)}.values())
