"""Paths with wildcards, such as `s3://lake/2024-*/*.json`: finds what they stand for.

They mean what they mean in Spark and Hadoop: `*` and `?` stay within a name, `[ab]` and `{a,b}` are choices. Names that
begin with `_` or `.` match only a name that is written out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gluepot.connectors.files.source.globs import compile_name
from gluepot.connectors.files.source.hive import is_hidden
from gluepot.core.errors import ConfigError
from gluepot.core.storage import Entry, SourceStorage, open_source

_SPECIAL = re.compile(r"[*?\[{]")
_MOST_CHOICES = 10_000
_BRACES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Match:
    """A folder or file that a path stands for.

    Args:
        folder: its canonical URL; of a file, that of the folder around it.
        file: the entry of the file, whose folder is empty; None for a folder.
    """

    folder: str
    file: Entry | None = None


def has_wildcards(url: str) -> bool:
    """Tell whether a path has characters that may be wildcards."""
    return _SPECIAL.search(url) is not None


def matches(url: str) -> Iterator[Match]:
    """Yield what a canonical path with wildcards stands for, each folder and file once.

    Raises:
        ConfigError: the path cannot be listed, or has too many choices.
        TransientError: the storage was away.
    """
    found: dict[Match, None] = {}
    for count, path in enumerate(_without_braces(url), 1):
        if count > _MOST_CHOICES:
            raise ConfigError(f"{url} stands for more than {_MOST_CHOICES:,} paths; list fewer choices in braces.")
        found.update(dict.fromkeys(_matches(path)))
    return iter(found)


def is_literal(url: str) -> bool:
    """Tell whether there is a file or folder whose name has these very characters."""
    parent, _, name = url.rpartition("/")
    if not has_wildcards(parent) and _SPECIAL.search(name) and open_source(parent or "/").entry(name):
        return True
    level = open_source(url).level("")
    return bool(level.files or level.folders)


def _without_braces(path: str) -> Iterator[str]:
    """Yield a path for each choice, as a choice may have slashes: `{2024/01,2024/02}`."""
    braces = _BRACES.search(path)
    if not braces:
        yield path
        return
    for choice in braces[1].split(","):
        yield from _without_braces(path[: braces.start()] + choice + path[braces.end() :])


def _matches(path: str) -> Iterator[Match]:
    special = _SPECIAL.search(path)
    top = path[: special.start() if special else None].rpartition("/")[0] or "/"
    *between, last = path[len(top) :].strip("/").split("/")
    storage = open_source(top)
    folders = [""]
    for name in between:
        folders = [_joined(folder, inner) for folder in folders for inner in _folders(storage, folder, name)]
    for folder in folders:
        level = storage.level(folder)
        for file in level.files:
            if _fits(last, file.name):
                yield Match(_joined(top, folder), file._replace(folder=""))
        for inner in level.folders:
            if _fits(last, inner):
                yield Match(_joined(top, _joined(folder, inner)))


def _folders(storage: SourceStorage, folder: str, name: str) -> Sequence[str]:
    if not has_wildcards(name):
        return [name]
    return [inner for inner in storage.level(folder).folders if _fits(name, inner)]


def _fits(name: str, candidate: str) -> bool:
    if not has_wildcards(name):
        return name == candidate
    return not is_hidden(candidate) and compile_name(name).matches(candidate)


def _joined(above: str, name: str) -> str:
    return f"{above.rstrip('/')}/{name}" if above and name else above or name
