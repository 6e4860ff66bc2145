"""Partition values to Hive's folder names and back.

The characters are those of Spark's `ExternalCatalogUtils.escapePathName`, and NUL, which no file system takes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
# Linux and macOS allow names of 255 bytes, S3 keys of 1,024 bytes: room for the table's prefix and the file's name.
LONGEST_FOLDER_BYTES = 255
LONGEST_PATH_BYTES = 640

_ESCAPED = re.compile(r"""[\x00-\x1f\x7f"#%'*/:=?\\{\[\]^]""")


def partition_path(keys: Sequence[str], values: Sequence[str | None]) -> str:
    """Return `k1=v1/k2=v2`; a null or empty value becomes Hive's default partition, as in Spark.

    The result has no empty part, none that is `.` or `..`, and no slash that came from a value.
    """
    return "/".join(
        f"{_escape(key)}={_escape(value or DEFAULT_PARTITION)}" for key, value in zip(keys, values, strict=True)
    )


def partition_values(path: str) -> dict[str, str | None]:
    """Return the values that a path was made from; an empty one comes back as None."""
    pairs = (part.partition("=") for part in path.split("/") if part)
    return {unquote(key): None if value == DEFAULT_PARTITION else unquote(value) for key, _, value in pairs}


def fits(path: str) -> bool:
    """Tell whether file systems and S3 can hold a partition's path."""
    folders = path.encode().split(b"/")
    return max(map(len, folders)) <= LONGEST_FOLDER_BYTES and len(path.encode()) <= LONGEST_PATH_BYTES


def _escape(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"%{ord(found.group()):02X}", text)
