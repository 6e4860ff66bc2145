"""Files below one root, on a local disk or in S3, behind one small contract.

storage = open_storage("s3://lake/clicks")
storage.create("_gluepot/commits/1.json", b"{}")  # False when it was there already
"""

from __future__ import annotations

from gluepot.core.storage.local import LocalStorage
from gluepot.core.storage.local_source import LocalSource
from gluepot.core.storage.port import FileLock, FileWriter, Storage
from gluepot.core.storage.s3 import S3Storage
from gluepot.core.storage.s3_source import S3Source
from gluepot.core.storage.source import Entry, Level, SourceStorage, VersionGone
from gluepot.core.storage.urls import LocalRoot, S3Root, canonical_url, parse_url, place_of

__all__ = [
    "Entry",
    "FileLock",
    "FileWriter",
    "Level",
    "LocalRoot",
    "LocalSource",
    "LocalStorage",
    "S3Root",
    "S3Source",
    "S3Storage",
    "SourceStorage",
    "Storage",
    "VersionGone",
    "canonical_url",
    "open_source",
    "open_storage",
    "parse_url",
    "place_of",
]


def open_storage(url: str) -> Storage:
    """Return the storage whose root is `url`. Nothing is accessed or created yet.

    Args:
        url: a local path, `file:` with one, or `s3://bucket/prefix` (also `s3a:`, `s3n:`).

    Raises:
        ConfigError: the URL has another scheme, or names no bucket.
    """
    match parse_url(url):
        case LocalRoot(path):
            return LocalStorage(path)
        case S3Root(bucket, prefix):
            return S3Storage(bucket, prefix)


def open_source(url: str) -> SourceStorage:
    """Return the storage whose root is `url`, for reading files that others wrote. Nothing is accessed yet.

    Raises:
        ConfigError: as for `open_storage`.
    """
    match parse_url(url):
        case LocalRoot(path):
            return LocalSource(path)
        case S3Root(bucket, prefix):
            return S3Source(bucket, prefix)
