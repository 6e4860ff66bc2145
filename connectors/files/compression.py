"""Decompression by the ending of a file's name, with a limit on what a small file may become."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, cast

import pyarrow as pa

from gluepot.core.errors import ConfigError, PermanentError, did_you_mean

_BY_ENDING = {
    ".gz": "gzip",
    ".gzip": "gzip",
    ".deflate": "deflate",
    ".bz2": "bzip2",
    ".zst": "zstd",
    ".zstd": "zstd",
    ".lz4": "lz4",
    ".snappy": "snappy",
}
NAMES = ("none", *dict.fromkeys(_BY_ENDING.values()))
_SAME = {"bz2": "bzip2", "uncompressed": "none", "gz": "gzip", "zst": "zstd"}

# A file may grow freely to the first of these, beyond it only by the second: gzip cannot do more than 1,032, and text
# hardly 100. bzip2 and zstd can turn a kilobyte into a gigabyte.
FREE_BYTES = 256 << 20
MOST_TIMES = 500
_SNAPPY_BLOCK_BYTES = 64 << 20


def read_compression(given: object) -> str | None:
    """Return the option `compressionType`; None leaves it to the names of the files.

    Raises:
        ConfigError: another name.
    """
    if given is None or given == "":
        return None
    name = _SAME.get(str(given).lower(), str(given).lower())
    if name not in NAMES:
        raise ConfigError(
            f"compressionType is {given!r}; use one of {', '.join(NAMES)}.{did_you_mean(str(given), NAMES)}"
        )
    return name


def compression_of(name: str, forced: str | None) -> str:
    """Return how a file is compressed: as the option says, or as its name does."""
    if forced is not None:
        return forced
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    return _BY_ENDING.get(ending, "none")


def decompressed(
    raw: BinaryIO, compression: str, size_bytes: int, place: str, free_bytes: int = FREE_BYTES
) -> BinaryIO:
    """Return the plain bytes of a file as a stream that need not be seekable.

    Args:
        raw: the file.
        compression: one of `NAMES`.
        size_bytes: of the compressed file, for the limit.
        place: its URL, for messages.
        free_bytes: up to where its growth is nobody's business.
    """
    match compression:
        case "none":
            return raw
        case "gzip":
            plain: Any = gzip.GzipFile(fileobj=raw, mode="rb")
        case "bzip2":
            plain = _Streams(raw, bz2.BZ2Decompressor)
        case "deflate":
            plain = _Streams(raw, zlib.decompressobj)  # what Spark and Hadoop call deflate
        case "snappy":
            plain = Snappy(raw)
        case other:
            plain = pa.CompressedInputStream(pa.PythonFile(raw, "r"), other)
    return cast(
        "BinaryIO", io.BufferedReader(_Limited(plain, max(free_bytes, MOST_TIMES * size_bytes), place), 1 << 20)
    )


class _Limited(io.RawIOBase):
    """Passes bytes on, up to a limit; what is wrong with them becomes our error."""

    def __init__(self, plain: Any, most_bytes: int, place: str) -> None:
        self._plain = plain
        self._left_bytes = most_bytes
        self._place = place

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._plain.read(len(buffer))
        except (OSError, EOFError, zlib.error, ValueError, pa.ArrowException) as error:
            raise PermanentError(
                f"{self._place} is damaged or was not written to its end ({error});"
                " write it again, or skip it with exclusions"
            ) from error
        self._left_bytes -= len(data)
        if self._left_bytes < 0:
            raise PermanentError(
                f"{self._place} grows to more than {MOST_TIMES} times its size when it is decompressed;"
                " skip it with exclusions, or decompress it first"
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._plain.close()
        super().close()


class _Streams:
    """The plain bytes of streams of one codec that a file holds one after the other. All of its bytes must be streams.

    Python's own `BZ2File` ends in silence where a later stream is damaged.

    Args:
        raw: the file.
        new: returns a decompressor of `zlib` or `bz2`.
    """

    def __init__(self, raw: BinaryIO, new: Callable[[], Any]) -> None:
        self._raw = raw
        self._new = new
        self._codec: Any = None

    def read(self, size: int) -> bytes:
        while True:
            given = b""
            if self._codec is None or self._codec.eof:
                given = (self._codec and self._codec.unused_data) or self._raw.read(1 << 16)
                if not given:
                    return b""
                self._codec = self._new()
            elif getattr(self._codec, "needs_input", True):
                given = getattr(self._codec, "unconsumed_tail", b"") or self._raw.read(1 << 16)
            if data := self._codec.decompress(given, size):
                return bytes(data)
            if not given and not self._codec.eof:
                raise EOFError("the stream has no end")

    def close(self) -> None:
        self._raw.close()


class Snappy:
    """Hadoop's way to put Snappy blocks into a file, and the framing format of Snappy itself."""

    FRAMED = b"\xff\x06\x00\x00sNaPpY"

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._codec = pa.Codec("snappy")
        self._ready = b""
        self._first = raw.read(len(self.FRAMED))
        self._framed = self._first == self.FRAMED
        if self._framed:
            self._first = b""

    def read(self, size: int) -> bytes:
        """Return some plain bytes, at most as many as asked for; none at the end.

        Raises:
            ValueError, EOFError, pa.ArrowException: the bytes are damaged.
        """
        while not self._ready:
            block = self._next_framed() if self._framed else self._next_of_hadoop()
            if block is None:
                return b""
            self._ready = block
        data, self._ready = self._ready[:size], self._ready[size:]
        return data

    def close(self) -> None:
        """Close the file."""
        self._raw.close()

    def _next_of_hadoop(self) -> bytes | None:
        head = self._take(4)
        if not head:
            return None
        plain_bytes, blocks = int.from_bytes(head), []
        while plain_bytes > 0:
            block = self._uncompressed(self._need(int.from_bytes(self._need(4))))
            plain_bytes -= len(block)
            blocks.append(block)
        return b"".join(blocks)

    def _next_framed(self) -> bytes | None:
        head = self._take(4)
        if not head:
            return None
        kind, data = head[0], self._need(int.from_bytes(head[1:], "little"))
        match kind:
            case 0x00:
                return self._uncompressed(data[4:])
            case 0x01:
                return data[4:]
            case _ if kind >= 0x80:  # padding, further stream identifiers
                return b"" if self._peekable() else None
        raise ValueError(f"chunk of unknown kind {kind}")

    def _peekable(self) -> bool:
        self._first += self._raw.read(1)
        return bool(self._first)

    def _uncompressed(self, data: bytes) -> bytes:
        plain_bytes = snappy_length(data)
        if plain_bytes > _SNAPPY_BLOCK_BYTES:
            raise ValueError(f"a block of {plain_bytes} bytes")
        return bytes(self._codec.decompress(data, plain_bytes))

    def _take(self, size: int) -> bytes:
        data, self._first = self._first[:size], self._first[size:]
        return data + self._raw.read(size - len(data)) if len(data) < size else data

    def _need(self, size: int) -> bytes:
        data = self._take(size)
        if len(data) < size:
            raise EOFError(f"{size - len(data)} bytes are missing at the end")
        return data


def snappy_length(data: bytes) -> int:
    """Return the number that a raw Snappy block begins with: the length of its plain bytes."""
    value = 0
    for at, byte in enumerate(data[:5]):
        value |= (byte & 0x7F) << (7 * at)
        if byte < 0x80:
            return value
    raise ValueError("a block without a length")
