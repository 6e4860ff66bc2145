"""Backup and restore of what the service knows: its database, the ledger, the catalog, and its keys."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.engine import make_url

from gluepot.bookmarks.ledger.connect import ledger_url
from gluepot.catalog.connect import catalog_url
from gluepot.core.errors import ConfigError
from gluepot.core.private import make_private_file, make_private_folder
from gluepot.core.storage.filesystem import OsFileSystem
from gluepot.service.server import KEY_FILES, LOCK_FILE, service_folder
from gluepot.service.store.database import store_url

_ABOUT = "backup.json"
_ABOUT_CONTENT = {"kind": "gluepot service backup", "version": 1}


@dataclass(slots=True)
class Copied:
    """What was copied.

    Args:
        files: names of databases and files.
        elsewhere: databases on a server, which has backups of its own.
    """

    files: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)


def back_up(folder: Path, environ: Mapping[str, str]) -> Copied:
    """Copy databases and keys into a new folder, while the service runs or not. Logs of runs are not copied.

    Args:
        folder: must not exist, or be empty. Only its owner can read it afterwards.
        environ: says where the databases are.

    Raises:
        ConfigError: there is something in the folder.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder} is not empty; name a new folder for the backup.")
    make_private_folder(folder)
    copied = Copied()
    for name, path in _databases(environ).items():
        if path is None:
            copied.elsewhere.append(name)
        elif path.exists():
            _copy_database(path, folder / f"{name}.db")
            copied.files.append(f"{name}.db")
    for name in KEY_FILES:
        if (path := service_folder(environ) / name).exists():
            shutil.copy2(path, folder / name)
            copied.files.append(name)
    # Last, so that a backup without it is one that was not finished.
    make_private_file(folder / _ABOUT, json.dumps(_ABOUT_CONTENT))
    return copied


def restore(folder: Path, environ: Mapping[str, str], suffix: str) -> Copied:
    """Put databases and keys of a backup in their places. What is there is kept beside them.

    Args:
        folder: of the backup.
        environ: says where the databases are.
        suffix: of the names of what is there.

    Raises:
        ConfigError: the folder has no finished backup, or a service runs.
    """
    try:
        about = json.loads((folder / _ABOUT).read_text())
    except (FileNotFoundError, ValueError):
        about = None
    if about != _ABOUT_CONTENT:
        raise ConfigError(f"{folder} has no finished backup of a service; name the folder that `backup` made.")
    own = service_folder(environ)
    make_private_folder(own)
    lock = OsFileSystem().lock(own / LOCK_FILE)
    if lock is None:
        raise ConfigError(f"A service works in {own}; end it before you restore.")
    copied = Copied()
    with lock:
        for name, path in _databases(environ).items():
            if not (saved := folder / f"{name}.db").exists():
                continue
            if path is None:
                copied.elsewhere.append(name)
                continue
            make_private_folder(path.parent)
            # A database and its write-ahead log belong together, by their names.
            for part in ("", "-wal", "-shm"):
                if (there := Path(f"{path}{part}")).exists():
                    there.rename(f"{path}{suffix}{part}")
            _copy_database(saved, path)
            copied.files.append(f"{name}.db")
        for name in KEY_FILES:
            if (folder / name).exists():
                if (there := own / name).exists():
                    there.rename(f"{there}{suffix}")
                shutil.copy2(folder / name, own / name)
                copied.files.append(name)
    return copied


def _databases(environ: Mapping[str, str]) -> dict[str, Path | None]:
    """Return the files of the databases; None for one that is on a server."""
    urls = {"service": store_url(environ), "ledger": ledger_url(environ), "catalog": catalog_url(environ)}
    parsed = {name: make_url(url) for name, url in urls.items()}
    return {
        name: Path(url.database or "") if url.get_backend_name() == "sqlite" else None for name, url in parsed.items()
    }


def _copy_database(path: Path, copy: Path) -> None:
    """Copy a database as it is at one moment, although somebody may be writing to it."""
    make_private_file(copy)
    with closing(sqlite3.connect(path)) as there, closing(sqlite3.connect(copy)) as made:
        there.backup(made)
