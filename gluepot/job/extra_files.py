"""`--extra-files`: files that a script finds in its working folder, on the driver and on the executors of a cluster."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gluepot.core.errors import ConfigError
from gluepot.core.storage import Entry, SourceStorage, open_source


@contextmanager
def extra_files(urls: Sequence[str]) -> Iterator[list[Path]]:
    """Copy files into the working folder; yield their paths there, and remove the copies at the end.

    A file of that name and content that is there already stays as it is.

    Args:
        urls: files and folders, local or `s3://`.

    Raises:
        ConfigError: there is no such file or folder, or the working folder has another file of that name.
    """
    copies: list[Path] = []
    paths = []
    try:
        for source, entry in [pair for url in urls for pair in _files(url)]:
            path = Path(entry.name).absolute()
            paths.append(path)
            with source.open(entry) as content:
                if not path.exists():
                    copies.append(path)
                    with path.open("wb") as copy:
                        shutil.copyfileobj(content, copy)
                elif path.stat().st_size != entry.size_bytes or path.read_bytes() != content.read():
                    raise ConfigError(
                        f"--extra-files has {entry.key} of {source.url}, and {path.parent} has another file of that"
                        " name; rename one of the two, or start the job in another folder."
                    )
        yield paths
    finally:
        for path in copies:
            path.unlink(missing_ok=True)


def _files(url: str) -> list[tuple[SourceStorage, Entry]]:
    parent, _, name = url.rstrip("/").rpartition("/")
    above = open_source(parent or ("/" if url.startswith("/") else "."))
    entry = None if url.endswith("/") else above.entry(name)
    if entry is not None:
        return [(above, entry)]
    folder = open_source(url)
    found = [(folder, one) for one in folder.level("").files]
    if not found:
        raise ConfigError(f"--extra-files has {url!r}; there is no such file, and no folder with files.")
    return found
