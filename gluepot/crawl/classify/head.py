"""The beginning of a file: how it is compressed, and its first bytes without that."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, BinaryIO

from gluepot.connectors.files.compression import decompressed
from gluepot.core.errors import PermanentError

HEAD_BYTES = 1 << 20
"""What is read of a file first, as Glue does."""
MOST_BYTES = 10 << 20
"""What is read of JSON and CSV whose first megabyte is not enough, as Glue does."""

_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\xff\x06\x00\x00sNaPpY", "snappy"),
    (b"PK\x03\x04", "zip"),
)
_MAGIC_BYTES = 32
_ENCRYPTED = {
    b"Salted__": "OpenSSL",
    b"age-encryption.org/": "age",
    b"-----BEGIN PGP MESSAGE-----": "PGP",
    b"\x85\x01\x0c": "PGP",
    b"\x85\x02\x0c": "PGP",
    b"\x8c\x0d\x04": "PGP",
}
_FLAG_ENCRYPTED = 1


@dataclass(slots=True)
class Head:
    """The beginning of a file.

    Args:
        place: its URL, for messages.
        size_bytes: of the whole file, as it is stored.
        compression: in Glue's words.
        data: its first bytes, decompressed.
        is_whole: whether there are no more.
        reopen: opens the decompressed file; seekable if it is not compressed.
    """

    place: str
    size_bytes: int
    compression: str
    data: bytes
    is_whole: bool
    reopen: Callable[[], BinaryIO]

    def more(self) -> None:
        """Read on to `MOST_BYTES`."""
        if not self.is_whole and len(self.data) < MOST_BYTES:
            with self.reopen() as plain:
                self.data, self.is_whole = _first(plain, MOST_BYTES)


def read_head(open_raw: Callable[[], BinaryIO], name: str, place: str, size_bytes: int) -> Head:
    """Read the beginning of a file.

    Args:
        open_raw: opens the file, seekable.
        name: of the file; only its ending tells Hadoop's form of Snappy.
        place: its URL, for messages.
        size_bytes: of the file.

    Raises:
        PermanentError: it cannot be decompressed, or is encrypted.
    """
    with open_raw() as raw:
        # The buffer of the file stays while there is more in it, so that a small object of S3 takes one request.
        compression = _compression(raw.read(min(_MAGIC_BYTES, max(0, size_bytes - 1))), name, place)
        raw.seek(0)
        with _plain(raw, compression, size_bytes, place) as plain:
            data, is_whole = _first(plain, HEAD_BYTES)
    return Head(
        place, size_bytes, compression, data, is_whole, lambda: _plain(open_raw(), compression, size_bytes, place)
    )


def _compression(magic: bytes, name: str, place: str) -> str:
    """Return how a file is compressed, by its first bytes.

    Raises:
        PermanentError: it is encrypted.
    """
    if encrypted := next((who for start, who in _ENCRYPTED.items() if magic.startswith(start)), None):
        raise PermanentError(f"{place} is encrypted by {encrypted}; decrypt it first, or skip it with exclusions")
    compression = next((kind for start, kind in _MAGIC if magic.startswith(start)), "none")
    return "snappy" if compression == "none" and name.lower().endswith(".snappy") else compression


def _plain(raw: BinaryIO, compression: str, size_bytes: int, place: str) -> BinaryIO:
    return _member(raw, place) if compression == "zip" else decompressed(raw, compression, size_bytes, place)


def _first(plain: BinaryIO, most_bytes: int) -> tuple[bytes, bool]:
    data = plain.read(most_bytes + 1)
    return data[:most_bytes], len(data) <= most_bytes


def _member(raw: BinaryIO, place: str) -> BinaryIO:
    """Open the only file of a ZIP archive.

    Raises:
        PermanentError: it has none or several, or is encrypted or damaged.
    """
    try:
        archive = zipfile.ZipFile(raw)
        members = [one for one in archive.infolist() if not one.is_dir()]
        if len(members) != 1:
            raise PermanentError(f"{place} is a ZIP archive of {len(members)} files; only those of one file are read")
        if members[0].flag_bits & _FLAG_ENCRYPTED:
            raise PermanentError(f"{place} is an encrypted ZIP archive; decrypt it first, or skip it")
        return io.BufferedReader(_Checked(archive.open(members[0]), place), 1 << 16)
    except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
        raise PermanentError(f"{place} is not a complete ZIP archive ({error}); write it again, or skip it") from error


class _Checked(io.RawIOBase):
    """A member of an archive; what is wrong with it becomes our error."""

    def __init__(self, plain: IO[bytes], place: str) -> None:
        self._plain = plain
        self._place = place

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._plain.read(len(buffer))
        except (zipfile.BadZipFile, OSError, EOFError, ValueError) as error:
            raise PermanentError(f"{self._place} is damaged ({error}); write it again, or skip it") from error
        buffer[: len(data)] = data
        return len(data)
