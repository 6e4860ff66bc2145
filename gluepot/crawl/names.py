"""Names of tables and partition keys (docs/glue 11.6). Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from urllib.parse import unquote

from gluepot.connectors.files.source.hive import is_partition

LONGEST_TABLE = 128
"""The longest name that a crawler gives."""

_ODD = re.compile(r"[^a-z0-9_]")


def table_name(prefix: str, place: str) -> str:
    """Return the name of the table at a place.

    Args:
        prefix: put in front.
        place: the last part of a URL: the name of a folder, a file or a bucket.
    """
    return _ODD.sub("_", f"{prefix}{place}".lower())[:LONGEST_TABLE] or "table"


def table_name_at(location: str, name: str) -> str:
    """Return the name of a table whose own name another table has: with a digest of its location."""
    digest = hashlib.md5(location.encode(), usedforsecurity=False).hexdigest()
    return f"{name[: LONGEST_TABLE - len(digest) - 1]}_{digest}"


def last_part(url: str) -> str:
    """Return the last part of a URL: `clicks` of `s3://lake/clicks/`."""
    return url.rstrip("/").rpartition("/")[2]


def folder_and_above(folder: str) -> list[str]:
    """Return a folder and the folders that it lies in, the innermost first; the last one is the target."""
    found = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        found.append(folder)
    return found


def partition_keys(levels: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of the partition keys.

    Args:
        levels: for each level of folders below a table, the names that occur there.
    """
    keys: list[str] = []
    unnamed = 0
    for names in levels:
        own = {unquote(name.partition("=")[0]).lower() for name in names if is_partition(name)}
        if len(own) == 1 and all(map(is_partition, names)) and not own & set(keys):
            keys.append(own.pop())
        else:
            keys.append(f"partition_{unnamed}")
            unnamed += 1
    return keys


def partition_value(key: str, folder: str) -> str:
    """Return the value that a folder stands for: the text after `=` of a key that has a name, else its whole name."""
    if is_partition(folder) and unquote(folder.partition("=")[0]).lower() == key:
        return unquote(folder.partition("=")[2])
    return folder


def place_of(connection: str, location: str) -> str:
    """Return what names a table among all tables of all connections.

    Args:
        connection: name of the connection.
        location: of the table, such as `shop.public.orders`.
    """
    return f"jdbc:{connection}/{location}"


def path_of(database: str, location: str) -> str | None:
    """Return the path of a table below its database, from its location; None if it is in another one."""
    head, _, rest = location.partition(".")
    return rest.replace(".", "/", 1) if head == database and rest else None
