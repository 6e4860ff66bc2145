"""Turns the operating system's file errors into our own."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gluepot.core.errors import ConfigError, TransientError

if TYPE_CHECKING:
    from collections.abc import Iterator

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_MISPLACED = {errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG}


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Raise ConfigError or TransientError for an OSError; a missing file stays FileNotFoundError.

    Args:
        place: the place to name if the system does not name the file.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        what = f"{error.filename or place}: {error.strerror}"
        if error.errno in _FULL:
            raise TransientError(f"no room left for {what}; free some space", 5.0) from error
        if error.errno in _FORBIDDEN:
            raise ConfigError(f"no right to use {what}; let this user write there or choose another path") from error
        if error.errno in _MISPLACED:
            raise ConfigError(f"cannot use {what}; give the path of a folder") from error
        if error.errno == errno.ENXIO:
            raise ConfigError(f"cannot open {what}; remove it or choose another path") from error
        raise TransientError(f"trouble with {what}") from error
