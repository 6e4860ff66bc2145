"""Locked archives on this disk."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gluepot.core.cachedir import cache_root
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.servers.jars import ivy
from gluepot.servers.jars.lockfile import RELOCK, LockedJar, find_set, lock_path, parse_lock
from gluepot.spark.java import ensure_java


def ensure(name: str) -> list[Path]:
    """Return the archives of a set, fetching what our cache lacks; every one is checked against the lock each time.

    An archive whose bytes in the cache are not the locked ones counts as lacking. Safe to call from several processes
    at once. Needs no network when nothing lacks.

    Raises:
        ConfigError: there is no such set, or no Java to fetch with.
        TransientError: the repository cannot be reached.
        PermanentError: a fetched archive is not the locked one.
    """
    jars = find_set(parse_lock(lock_path().read_text()), name).jars
    folder = cache_root(os.environ) / "jars"
    lacking = [jar for jar in jars if not is_intact(folder, jar)]
    if lacking:
        _fetch(lacking, folder)
    return [folder / jar.module.path for jar in jars]


def locked_archives(name: str, folder: Path | None = None) -> list[Path]:
    """Return the archives of a set as this machine holds them; each is checked against the lock, nothing is fetched.

    Args:
        name: name of the set.
        folder: where they lie side by side under their own names; None for our cache.

    Raises:
        ConfigError: there is no such set, or an archive is not there, or another than the locked one.
    """
    cache = cache_root(os.environ) / "jars"
    paths = []
    for jar in find_set(parse_lock(lock_path().read_text()), name).jars:
        path = cache / jar.module.path if folder is None else folder / jar.module.path.name
        if not path.exists() or sha256_of(path) != jar.sha256:
            wrong = "other bytes than the locked ones" if path.exists() else "not there"
            aim = "" if folder is None else f" --jars-dir {folder}"
            raise ConfigError(
                f"The Java archive {path} of {name} is {wrong}; run `gluepot jars fetch {name}{aim}` once where there "
                f"is a network{'' if folder is None else ', and copy the folder'}."
            )
        paths.append(path)
    return paths


def copy_to(folder: Path, archives: Sequence[Path]) -> None:
    """Copy archives side by side into a folder, which is made; none is ever there in part."""
    folder.mkdir(parents=True, exist_ok=True)
    for archive in archives:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".copy-") as staging:
            Path(shutil.copy(archive, staging)).replace(folder / archive.name)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def is_intact(folder: Path, jar: LockedJar) -> bool:
    """Tell whether the folder holds the archive exactly as locked."""
    path = folder / jar.module.path
    return path.exists() and sha256_of(path) == jar.sha256


def require_intact(folder: Path, jars: Sequence[LockedJar]) -> None:
    """Check fetched archives against the lock.

    Raises:
        PermanentError: one is not as locked; the message names it.
    """
    for jar in jars:
        if not is_intact(folder, jar):
            path = folder / jar.module.path
            seen = f"has SHA-256 {sha256_of(path)}" if path.exists() else "is not there"
            raise PermanentError(
                f"The fetched archive {jar.module} {seen}, but {jar.sha256} is locked; something between here and the "
                f"Maven repository changed it, so find out what, or run `{RELOCK}` if the new bytes are right.",
            )


def _fetch(lacking: Sequence[LockedJar], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as staging:
        java = ensure_java(os.environ).java
        fetched = ivy.retrieve(java, [jar.module for jar in lacking], Path(staging), transitive=False)
        require_intact(fetched, lacking)
        for jar in lacking:
            target = folder / jar.module.path
            target.parent.mkdir(parents=True, exist_ok=True)
            (fetched / jar.module.path).replace(target)
