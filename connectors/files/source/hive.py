"""Folders named `key=value`, as Hive names partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote

DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def is_partition(folder: str) -> bool:
    """Tell whether the name of a folder is that of a partition."""
    key, equals, _ = folder.partition("=")
    return bool(key and equals)


def partition_values(path: str) -> Iterator[tuple[str, str | None]]:
    """Yield key and value of every `key=value` in a relative path, outermost first; Hive's default is None."""
    for folder in path.split("/"):
        if is_partition(folder):
            key, _, value = folder.partition("=")
            yield unquote(key), None if value == DEFAULT_PARTITION else unquote(value)


def partition_path(values: Iterable[tuple[str, str]]) -> str:
    """Return names and values as the path that `partition_values` reads."""
    return "/".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in values)
