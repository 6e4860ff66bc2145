"""Reads files from a prefix of an S3 bucket."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO

import obstore
from obstore.exceptions import PreconditionError
from obstore.store import S3Store

from gluepot.core.storage.s3 import S3Reader, S3Storage, connect, explained_s3
from gluepot.core.storage.source import SMALL_BYTES, Entry, Level, VersionGone

_PAGE_KEYS = 1000  # the most keys that S3 returns for one request
_BUFFER_BYTES = 8 << 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class S3Source:
    """Files below `s3://bucket/prefix`."""

    bucket: str
    prefix: str = ""

    @property
    def url(self) -> str:  # noqa: D102 - the port says it, here and below
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    @property
    def lists_trees(self) -> bool:  # noqa: D102
        return True

    def level(self, folder: str) -> Level:  # noqa: D102
        with explained_s3(self.url):
            found = obstore.list_with_delimiter(self._store, folder or None)
        files = sorted((_entry(meta) for meta in found["objects"]), key=lambda one: one.name)
        return Level(sorted(prefix.rstrip("/").rpartition("/")[2] for prefix in found["common_prefixes"]), files)

    def tree(self, folder: str) -> Iterator[Entry]:  # noqa: D102
        with explained_s3(self.url):
            for page in obstore.list(self._store, folder or None, chunk_size=_PAGE_KEYS):
                yield from map(_entry, page)

    def entry(self, key: str) -> Entry | None:  # noqa: D102
        with explained_s3(self.url), suppress(FileNotFoundError):
            return _entry(obstore.head(self._store, key))
        return None

    def open(self, entry: Entry) -> BinaryIO:  # noqa: D102
        with explained_s3(self.url):
            try:
                if entry.size_bytes <= SMALL_BYTES:
                    got = obstore.get(self._store, entry.key, options={"if_match": entry.etag} if entry.etag else None)
                    self._require(entry, got.meta)
                    return io.BytesIO(got.bytes())
                self._require(entry, obstore.head(self._store, entry.key))
            except (FileNotFoundError, PreconditionError) as error:
                raise VersionGone(f"{self.url}/{entry.key} was deleted or overwritten after it was listed") from error
        reader = S3Reader(S3Storage(self.bucket, self.prefix), entry.key, entry.size_bytes)
        return io.BufferedReader(reader, _BUFFER_BYTES)

    def _require(self, entry: Entry, meta: Mapping[str, Any]) -> None:
        now = _entry(meta)  # times differ: on some servers, one object's has only seconds, a listing's more
        if (now.etag, now.size_bytes) != (entry.etag, entry.size_bytes):
            raise VersionGone(f"{self.url}/{entry.key} was overwritten after it was listed")

    @property
    def _store(self) -> S3Store:
        return connect(self.bucket, self.prefix)


def _entry(meta: Mapping[str, Any]) -> Entry:
    folder, _, name = str(meta["path"]).rpartition("/")
    mtime_us = (meta["last_modified"] - _EPOCH) // timedelta(microseconds=1)
    return Entry(folder, name, int(meta["size"]), mtime_us, str(meta.get("e_tag") or "").strip('"'))
