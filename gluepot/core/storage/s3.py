"""A storage in a prefix of an S3 bucket, through obstore.

Credentials are found in the environment as AWS's tools find them: keys in variables, web identity, the role of the
container or the machine. `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL` names a server other than Amazon's. Requests to it
have the bucket in the path, and use plain http if the URL says so.
"""

from __future__ import annotations

import io
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, GenericError
from obstore.store import S3Store

from gluepot.core.errors import ConfigError, TransientError
from gluepot.core.failpoints import reach
from gluepot.core.storage.os_errors import explained
from gluepot.core.storage.port import checked, past, stretch_with
from gluepot.core.storage.s3_errors import s3_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from _typeshed import WriteableBuffer
    from obstore.store import S3Config

    from gluepot.core.storage.port import FileLock, Stretch

_PARALLEL_COPIES = 64
# A file up to this size is sent with one request, a larger one in parts of this size. An upload in parts is at least
# four requests, of which three follow each other.
PART_BYTES = 16 << 20
_PARTS_AT_ONCE = 4
# The bytes that one request reads: enough for the footer and the first columns of an ordinary file.
_READ_AHEAD_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class S3Storage:
    """Storage below `s3://bucket/prefix`. Picklable: the connection is made in the process that uses it."""

    bucket: str
    prefix: str = ""

    @property
    def url(self) -> str:  # noqa: D102 - the port says it, here and below
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    def get(self, key: str) -> bytes:  # noqa: D102
        with explained_s3(self.url):
            return bytes(obstore.get(self._store, checked(key)).bytes())

    def reader(self, key: str, size_bytes: int | None = None) -> BinaryIO:  # noqa: D102
        if size_bytes is None:
            with explained_s3(self.url):
                size_bytes = obstore.head(self._store, checked(key))["size"]
        return io.BufferedReader(S3Reader(self, key, size_bytes), _READ_AHEAD_BYTES)

    def put(self, key: str, data: bytes) -> None:  # noqa: D102
        with explained_s3(self.url), self._bucket_needed():
            obstore.put(self._store, checked(key), data)

    def create(self, key: str, data: bytes) -> bool:  # noqa: D102
        with explained_s3(self.url), self._bucket_needed():
            try:
                obstore.put(self._store, checked(key), data, mode="create")
            except AlreadyExistsError:
                return False
            return True

    def writer(self, key: str) -> S3Writer:  # noqa: D102
        return S3Writer(self, checked(key))

    def move(self, moves: Sequence[tuple[str, str]]) -> None:
        """Copy each file on the server, then remove the first ones: S3 has no rename."""
        with explained_s3(self.url), ThreadPoolExecutor(_PARALLEL_COPIES) as pool:
            for copied in [pool.submit(self._copy, source, target) for source, target in moves]:
                copied.result()
        self.delete(source for source, _ in moves)

    def list(self, folder: str, skip: Sequence[Stretch] = ()) -> Sequence[str]:  # noqa: D102
        prefix = checked(folder) if folder else None
        with explained_s3(self.url):
            return sorted(self._keys(prefix, skip))

    def _keys(self, prefix: str | None, skip: Sequence[Stretch]) -> Iterator[str]:
        """Yield keys. When a page has a key of a stretch, the next request continues behind that stretch."""
        behind: str | None = None
        while True:
            for entry in chain.from_iterable(obstore.list(self._store, prefix, offset=behind)):
                if skip and (stretch := stretch_with(entry["path"], skip)):
                    behind = past(stretch)
                    break
                yield entry["path"]
            else:
                return

    def flush(self, keys: Iterable[str]) -> None:  # noqa: D102
        pass

    def delete(self, keys: Iterable[str]) -> None:  # noqa: D102
        if doomed := [checked(key) for key in keys]:
            with explained_s3(self.url):
                obstore.delete(self._store, doomed)

    def delete_folder(self, folder: str, within: str | None = None) -> None:  # noqa: ARG002, D102
        self.delete(self.list(checked(folder)))

    def lock(self, key: str) -> FileLock | None:  # noqa: ARG002, D102
        return None

    def _copy(self, source: str, target: str) -> None:
        obstore.copy(self._store, checked(source), checked(target))
        reach("storage.moved")

    @contextmanager
    def _bucket_needed(self) -> Iterator[None]:
        """Distinguish a missing bucket from a missing upload when a write reports that something was not found.

        An upload is missing if S3 completed it and the answer was lost: when asked again, S3 no longer knows it.
        """
        try:
            yield
        except FileNotFoundError as error:
            try:
                next(iter(obstore.list(self._store)), None)
            except GenericError:  # obstore's error for "no such bucket" here
                raise ConfigError(f"bucket {self.bucket!r} does not exist; create it or correct the path") from error
            raise TransientError(f"an upload to {self.url} got lost") from error

    @property
    def _store(self) -> S3Store:
        return connect(self.bucket, self.prefix)


class S3Reader(io.RawIOBase):
    """An object that is read in parts, one request each."""

    def __init__(self, storage: S3Storage, key: str, size_bytes: int) -> None:
        super().__init__()
        self._storage = storage
        self._key = key
        self._size_bytes = size_bytes
        self._at = 0

    def readable(self) -> bool:  # noqa: D102
        return True

    def seekable(self) -> bool:  # noqa: D102
        return True

    def tell(self) -> int:  # noqa: D102
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:  # noqa: D102
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size_bytes}[whence]
        self._at = start + offset
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:  # noqa: D102
        view = memoryview(buffer).cast("B")
        length = min(len(view), self._size_bytes - self._at)
        if length <= 0:
            return 0
        with explained_s3(self._storage.url):
            store = self._storage._store  # noqa: SLF001 - the reader is part of its storage
            view[:length] = obstore.get_range(store, self._key, start=self._at, length=length)
        self._at += length
        return length

    def readall(self) -> bytes:
        """Return the rest of the object with one request. Python's own method would request 8 KiB at a time."""
        rest = bytearray(max(0, self._size_bytes - self._at))
        self.readinto(rest)
        return bytes(rest)


class S3Writer:
    """A file that grows as a local temporary file and is sent when it is complete.

    So a task that fails leaves no unfinished multipart upload behind: obstore aborts the upload if sending a whole file
    fails, but offers no way to abort an upload that its incremental writer has begun.
    """

    def __init__(self, storage: S3Storage, key: str) -> None:
        self._storage = storage
        self._key = key
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives until commit or discard

    def write(self, data: bytes | memoryview) -> int:  # noqa: D102
        with explained(f"the temporary file for {self._key}"):
            return self._file.write(data)

    def commit(self) -> None:  # noqa: D102
        with explained(f"the temporary file for {self._key}"):
            self._file.seek(0)  # also flushes the buffer
        storage = self._storage  # the writer is part of it
        with self._file, explained_s3(storage.url), storage._bucket_needed():  # noqa: SLF001
            store = storage._store  # noqa: SLF001
            obstore.put(store, self._key, self._file, chunk_size=PART_BYTES, max_concurrency=_PARTS_AT_ONCE)

    def discard(self) -> None:  # noqa: D102
        self._file.close()


def _endpoint(environ: Mapping[str, str]) -> str | None:
    """Return the server's URL, or None for Amazon's own. The more specific variable wins, as in AWS's tools."""
    return environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or None


def connect(bucket: str, prefix: str) -> S3Store:
    """Return a store, which this process keeps for later calls."""
    return _connected(bucket, prefix, _endpoint(os.environ))


@lru_cache(maxsize=16)
def _connected(bucket: str, prefix: str, endpoint: str | None) -> S3Store:
    config: S3Config = {}
    if endpoint:
        config = {"endpoint": endpoint, "virtual_hosted_style_request": False}
    plain = bool(endpoint) and str(endpoint).startswith("http://")
    return S3Store(bucket, prefix=prefix or None, config=config, client_options={"allow_http": plain})


@contextmanager
def explained_s3(url: str) -> Iterator[None]:
    """Turn obstore's errors into our own; a missing file stays FileNotFoundError."""
    try:
        yield
    except BaseError as error:
        raise s3_error(url, str(error)) from error
