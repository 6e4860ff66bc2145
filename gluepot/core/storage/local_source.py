"""Reads files from a folder on a local disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gluepot.core.storage.os_errors import explained
from gluepot.core.storage.source import Entry, Level, VersionGone


@dataclass(frozen=True, slots=True)
class LocalSource:
    """Files below a folder."""

    root: Path

    @property
    def url(self) -> str:  # noqa: D102 - the port says it, here and below
        return str(self.root)

    @property
    def lists_trees(self) -> bool:  # noqa: D102
        return False

    def level(self, folder: str) -> Level:  # noqa: D102
        with explained(self.url):
            try:
                with os.scandir(self.root / folder) as found:
                    inside = list(found)
                folders = [one.name for one in inside if one.is_dir()]
                others = [one for one in inside if not one.is_dir()] if len(folders) < len(inside) else []
                files = sorted((one.name, one) for one in others if one.is_file())
                entries = [_entry(folder, name, one.stat()) for name, one in files]
            except FileNotFoundError:  # the folder, or a file that was deleted while it was listed
                return self.level(folder) if (self.root / folder).is_dir() else Level((), ())
        return Level(sorted(folders), entries)

    def tree(self, folder: str) -> Iterator[Entry]:  # noqa: D102
        level = self.level(folder)
        yield from level.files
        for name in level.folders:
            yield from self.tree(f"{folder}/{name}" if folder else name)

    def entry(self, key: str) -> Entry | None:  # noqa: D102
        path = self.root / key
        folder, _, name = key.rpartition("/")
        with explained(self.url):
            return _entry(folder, name, path.stat()) if path.is_file() else None

    def open(self, entry: Entry) -> BinaryIO:  # noqa: D102
        path = self.root / entry.key
        with explained(str(path)):
            try:
                file = path.open("rb")
            except FileNotFoundError as error:
                raise VersionGone(f"{path} was deleted after it was listed") from error
        if _entry(entry.folder, entry.name, os.fstat(file.fileno())) != entry:
            file.close()
            raise VersionGone(f"{path} was overwritten after it was listed")
        return file


def _entry(folder: str, name: str, stat: os.stat_result) -> Entry:
    return Entry(folder, name, stat.st_size, stat.st_mtime_ns // 1000)
