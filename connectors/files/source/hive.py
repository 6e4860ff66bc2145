"""Folders named `key=value`, as Hive names partitions."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from gluepot.connectors.files.partition_folders import DEFAULT_PARTITION


def is_partition(folder: str) -> bool:
    """Tell whether the name of a folder is that of a partition."""
    key, equals, _ = folder.partition("=")
    return bool(key and equals)


def is_hidden(name: str) -> bool:
    """Tell whether readers pass over a file or folder of this name, as Hadoop does.

    `day=1_$folder$` is an empty object that Hadoop leaves on S3 in the place of a folder.
    """
    return (name.startswith(("_", ".")) and not is_partition(name)) or name.endswith("_$folder$")


def partition_values(path: str) -> Iterator[tuple[str, str | None]]:
    """Yield key and value of every `key=value` in a relative path, outermost first; Hive's default is None."""
    for folder in path.split("/"):
        if is_partition(folder):
            key, _, value = folder.partition("=")
            yield unquote(key), None if value == DEFAULT_PARTITION else unquote(value)
