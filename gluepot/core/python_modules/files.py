"""Brings the files that a job's modules name to this machine, and reads what they contain."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from gluepot.core.errors import ConfigError
from gluepot.core.python_modules.requests import MODULES, ZIP_OF_WHEELS, Request, is_file
from gluepot.core.storage import open_source

_REQUIREMENTS = "requirements.txt"
# Above these, a zip of wheels is treated as hostile.
_MOST_FILES, _MOST_BYTES = 10_000, 20 << 30


def fetched(url: str, folder: Path, named_by: str = MODULES) -> tuple[Path, str]:
    """Copy a file into a new folder; return the copy and the digest of its content.

    Args:
        url: of the file, local or `s3://`.
        folder: the folder; its parent exists.
        named_by: the parameter of the job that names the file, for the message.

    Raises:
        ConfigError: there is no such file.
    """
    parent, _, name = url.rpartition("/")
    source = open_source(parent or ("/" if url.startswith("/") else "."))
    entry = source.entry(name)
    if entry is None:
        raise ConfigError(f"There is no file {name} in {source.url}; it is named by --{named_by}.")
    folder.mkdir()
    copy, digest = folder / name, hashlib.sha256(name.encode())
    with source.open(entry) as content, copy.open("wb") as written:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
            written.write(chunk)
    return copy, digest.hexdigest()


def wheelhouse(folders: Sequence[str]) -> list[str]:
    """Return the files in the folders that pip finds wheels in, each with its size and time."""
    return [_version(path) for folder in folders for path in sorted(Path(folder).glob("*")) if path.is_file()]


def versions(paths: Sequence[str]) -> list[str]:
    """Return the files at paths and in folders there, each with its size and time; what is not there is left out."""
    found = [one for path in map(Path, paths) for one in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    return [_version(path) for path in found if path.is_file()]


def _version(path: Path) -> str:
    return f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}"


def arguments(request: Request, copies: Sequence[Path], folder: Path) -> list[str]:
    """Return the arguments of `pip install`.

    Args:
        request: the modules.
        copies: its files, in their order.
        folder: takes what zips of wheels contain.

    Raises:
        ConfigError: a zip of wheels cannot be read.
    """
    remaining = iter(copies)
    words = []
    for module in request.modules:
        path = next(remaining) if is_file(module) else None
        if path is None:
            words.append(module)
        elif path.name.endswith(ZIP_OF_WHEELS):
            words += _of_zip(path, folder / path.parent.name)
        elif path.suffix == ".txt" and request.options[-1:] not in {("-r",), ("--requirement",)}:
            words += ["-r", str(path)]
        else:
            words.append(str(path))
    return [*request.options, *words]


def _of_zip(path: Path, folder: Path) -> list[str]:
    """Unpack a zip of wheels; return the arguments that install them."""
    folder.mkdir(parents=True)
    try:
        with zipfile.ZipFile(path) as archive:
            files = [one for one in archive.infolist() if one.filename.endswith((".whl", f"/{_REQUIREMENTS}"))]
            files += [one for one in archive.infolist() if one.filename == _REQUIREMENTS]
            if len(files) > _MOST_FILES or sum(one.file_size for one in files) > _MOST_BYTES:
                raise ConfigError(f"{path.name} is too large for a zip of wheels; split it in two.")
            for one in files:
                with archive.open(one) as content, (folder / PurePosixPath(one.filename).name).open("wb") as written:
                    shutil.copyfileobj(content, written)
    except zipfile.BadZipFile as wrong:
        raise ConfigError(f"{path.name} is not a zip file; make it again.") from wrong
    if (folder / _REQUIREMENTS).exists():
        return ["--find-links", str(folder), "-r", str(folder / _REQUIREMENTS)]
    return ["--find-links", str(folder), *map(str, sorted(folder.glob("*.whl")))]
