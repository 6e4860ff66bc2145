"""Packages of the npm registry, locked by version and hash, fetched once into our cache by npm itself.

`python -m gluepot.servers.npm` fetches those that the cache lacks.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from gluepot.core.cachedir import cache_root
from gluepot.core.errors import ConfigError, EtlError, PermanentError, TransientError

FETCH_SECS = 300.0


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """A package without dependencies.

    Args:
        name: name in the registry.
        version: exact version.
        integrity: hash of its archive in npm's form: `sha512-` and base64.
    """

    name: str
    version: str
    integrity: str

    @property
    def archive(self) -> str:
        """Name that npm gives to its archive."""
        return f"{self.name}-{self.version}.tgz"


def find_package(text: str, name: str) -> LockedPackage:
    """Return a package of a lock file.

    Raises:
        ConfigError: the text is not a lock file, or lacks the package.
    """
    try:
        plain = json.loads(text)[name]
        return LockedPackage(name, plain["version"], plain["integrity"])
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"The npm lock has no {name} ({error!r}); restore deploy/npm.lock.json.") from error


def ensure(name: str) -> Path:
    """Return the archive of a locked package, fetched if our cache lacks it. Always checks it against the lock.

    Safe to call from several processes at once. Needs no network if the cache has the archive.

    Args:
        name: name of the package, in deploy/npm.lock.json.

    Raises:
        ConfigError: the package is not locked, or there is no npm to fetch it with.
        TransientError: the registry cannot be reached.
        PermanentError: the fetched archive is not the locked one.
    """
    package = find_package(lock_path().read_text(), name)
    archive = cache_root(os.environ) / "npm" / package.archive
    if not archive.exists() or integrity_of(archive) != package.integrity:
        _fetch(package, archive)
    return archive


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive into `package` below `folder`, after removing old contents, and return that folder."""
    shutil.rmtree(folder / "package", ignore_errors=True)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "package"


def integrity_of(path: Path) -> str:
    """Return the hash of a file as npm writes it."""
    with path.open("rb") as opened:
        return "sha512-" + base64.b64encode(hashlib.file_digest(opened, "sha512").digest()).decode()


def require_program(name: str) -> str:
    """Return the path of `node` or `npm`.

    Raises:
        ConfigError: the program is not on PATH.
    """
    if found := shutil.which(name):
        return found
    raise ConfigError(f"There is no {name} on PATH, and the Kinesis emulator runs on it; install Node.js 18 or newer.")


def lock_path() -> Path:
    """Return the lock file: beside this module if it is installed, or in deploy/ in a checkout."""
    installed = Path(str(resources.files("gluepot.servers"))) / "npm.lock.json"
    return installed if installed.exists() else Path(__file__).parents[2] / "deploy" / "npm.lock.json"


def _fetch(package: LockedPackage, archive: Path) -> None:
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".fetch-") as staging:
        command = [require_program("npm"), "pack", f"{package.name}@{package.version}", "--ignore-scripts"]
        try:
            subprocess.run(
                command,
                capture_output=True,
                check=True,
                cwd=staging,
                stdin=subprocess.DEVNULL,
                text=True,
                timeout=FETCH_SECS,
            )
        except subprocess.SubprocessError as error:
            reason = (str(getattr(error, "stderr", "") or error).strip().splitlines() or ["npm said nothing"])[-1]
            raise TransientError(
                f"The npm package {package.name} {package.version} could not be fetched ({reason}); this needs a"
                " package network once, so connect one, or set npm's proxy, and run it again.",
            ) from error
        fetched = Path(staging, package.archive)
        if (seen := integrity_of(fetched)) != package.integrity:
            raise PermanentError(
                f"The fetched archive {package.archive} has {seen}, but {package.integrity} is locked in"
                " deploy/npm.lock.json; something between here and the npm registry changed it, so find out what.",
            )
        fetched.replace(archive)


if __name__ == "__main__":
    try:
        for name in json.loads(lock_path().read_text()):
            print(f"{ensure(name)} is in the cache.")
    except EtlError as error:
        sys.exit(str(error))
