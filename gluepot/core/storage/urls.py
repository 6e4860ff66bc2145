"""Parses the paths of job scripts into a kind of storage and a place in it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from gluepot.core.errors import ConfigError

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):")


@dataclass(frozen=True, slots=True)
class LocalRoot:
    """A folder on this machine, absolute."""

    path: Path


@dataclass(frozen=True, slots=True)
class S3Root:
    """A prefix in a bucket; `prefix` has no slash at either end and may be empty."""

    bucket: str
    prefix: str


def parse_url(url: str) -> LocalRoot | S3Root:
    """Parse a path as Spark does; a relative one starts at the current folder.

    Raises:
        ConfigError: the scheme is not known, or an S3 URL has no bucket.
    """
    scheme = _SCHEME.match(url)
    match scheme.group(1).lower() if scheme else None:
        case None:
            return _local(url, url)
        case "file":
            return _local(url, re.sub(r"^file:(//)?", "", url, flags=re.IGNORECASE))
        case "s3" | "s3a" | "s3n":
            return _s3(url)
        case other:
            raise ConfigError(f"path {url!r} has the scheme {other!r}; use a local path, file: or s3://")


def canonical_url(url: str) -> str:
    """Return a canonical spelling of a path, which means the same in every process of a job.

    Raises:
        ConfigError: as for `parse_url`.
    """
    match parse_url(url):
        case LocalRoot(path):
            return str(path)
        case S3Root(bucket, prefix):
            return f"s3://{bucket}/{prefix}".rstrip("/")


def place_of(url: str) -> str:
    """Return the one spelling of a folder, with links followed, so that all paths to a folder give equal text.

    Raises:
        ConfigError: as for `parse_url`.
    """
    match parse_url(url):
        case LocalRoot(path):
            return os.path.realpath(path)
        case S3Root():
            return canonical_url(url)


def _local(url: str, path: str) -> LocalRoot:
    if not path:
        raise ConfigError(f"path {url!r} names no folder; give one such as /data/clicks or s3://bucket/clicks")
    return LocalRoot(Path(path).absolute())


def _s3(url: str) -> S3Root:
    bucket, _, prefix = url.split(":", 1)[1].removeprefix("//").partition("/")
    if not bucket:
        raise ConfigError(f"path {url!r} names no bucket; write s3://bucket/prefix")
    return S3Root(bucket, "/".join(part for part in prefix.split("/") if part))
