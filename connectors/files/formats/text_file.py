"""Compression of a text file as a whole."""

from __future__ import annotations

import bz2
import gzip
import io
from enum import Enum
from typing import BinaryIO, cast

from gluepot.core.errors import ConfigError, did_you_mean

# Arrow bytes that are turned into text at once; bounds memory, shows nowhere in the files.
GATHER_BYTES = 32 << 20


class Compression(Enum):
    """What Glue's `compression` allows for text; the value is the file name's suffix."""

    NONE = ""
    GZIP = ".gz"
    BZIP2 = ".bz2"

    @classmethod
    def from_glue(cls, name: object) -> Compression:
        """Read the option; None means no compression.

        Raises:
            ConfigError: another name.
        """
        known = {"none": cls.NONE, "uncompressed": cls.NONE, "gzip": cls.GZIP, "bzip2": cls.BZIP2}
        text = "none" if name is None else str(name)
        if text.lower() not in known:
            raise ConfigError(
                f"compression {text!r} is not for text files; use gzip or bzip2.{did_you_mean(text, known)}"
            )
        return known[text.lower()]


class TextFile:
    """A text file's bytes on their way through the compressor."""

    def __init__(self, output: io.RawIOBase, compression: Compression) -> None:
        self._file = _compressed(output, compression)

    def write(self, text: bytes) -> None:
        """Append."""
        self._file.write(text)

    def close(self) -> None:
        """Write what the compressor still holds; `output` stays open."""
        self._file.close()


def _compressed(output: io.RawIOBase, compression: Compression) -> io.BufferedIOBase | io.RawIOBase:
    match compression:
        case Compression.GZIP:
            # No name and no time stamp in the header: equal rows give equal bytes.
            return gzip.GzipFile(filename="", mode="wb", fileobj=cast("BinaryIO", output), mtime=0)
        case Compression.BZIP2:
            return bz2.BZ2File(cast("BinaryIO", output), "wb")
        case Compression.NONE:
            return output


def decompressed(file: BinaryIO, compression: Compression) -> BinaryIO:
    """Return the text of a file that `TextFile` wrote."""
    match compression:
        case Compression.GZIP:
            return cast("BinaryIO", gzip.GzipFile(fileobj=file))
        case Compression.BZIP2:
            return cast("BinaryIO", bz2.BZ2File(file))
        case Compression.NONE:
            return file


def text_ending(task: int, ordinal: int, compression: Compression) -> str:
    """Return Glue's ending of a text file's name, which has no extension of its own; further files get `-1`, `-2`."""
    further = f"-{ordinal}" if ordinal else ""
    return f"part-r-{task:05d}{further}{compression.value}"
