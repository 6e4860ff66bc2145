"""Installs the modules of a job with pip, once for each content, and keeps the installations in the cache folder.

An installation is a virtual environment that also sees the packages of Gluepot's own Python, so that pip installs only
what is missing. It is made in a folder beside its final one and renamed when it is complete. A process that uses one
holds a shared lock, and only installations without a lock are removed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from gluepot.core.cachedir import cache_root
from gluepot.core.clock import Clock
from gluepot.core.disk import used_bytes
from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger
from gluepot.core.python_modules.files import arguments, fetched, versions, wheelhouse
from gluepot.core.python_modules.requests import (
    MODULES,
    OPTIONS,
    Kept,
    Request,
    key_of,
    local_folders,
    local_paths,
    reason_of,
    surplus,
)
from gluepot.core.python_modules.site_path import OWN_PATHS, own_packages
from gluepot.core.statedir import state_root

log = get_logger(__name__)

_FOLDER, _COMPLETE = "python-modules", "complete"
# About fifty times what pandas with its dependencies takes.
KEPT_BYTES = 10 << 30
_HOST_WHEELS = "/usr/share/python-wheels"  # Debian keeps ensurepip's wheels there
# Variables that would make pip install elsewhere, or slowly.
_NOT_FOR_PIP = (
    *("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_DRY_RUN", "PYTHONHOME"),
    "PYTHONDONTWRITEBYTECODE",  # pip itself would be compiled at each start
)


@dataclass(frozen=True, slots=True)
class Installation:
    """Modules on this machine.

    Args:
        folder: holds all of it.
        lock: keeps it from being removed while it is open.
    """

    folder: Path
    lock: BinaryIO

    @property
    def python(self) -> Path:
        """A Python that has the modules and Gluepot's own packages."""
        return self.folder / "bin" / "python"

    @property
    def site(self) -> Path:
        """The folder of the modules."""
        return _site(self.folder)


def installed(request: Request, environ: Mapping[str, str], clock: Clock, kept_bytes: int = KEPT_BYTES) -> Installation:
    """Return an installation of the modules; the first call for a content makes it.

    Args:
        request: the modules.
        environ: names the cache folder, and has pip's own variables.
        clock: for the day.
        kept_bytes: what all installations may take; those used longest ago are removed.

    Raises:
        ConfigError: a file is not there, or pip cannot install a module.
    """
    with tempfile.TemporaryDirectory(prefix="gluepot-modules-") as name:
        temporary = Path(name)
        copies = [fetched(url, temporary / str(at)) for at, url in enumerate(request.files)]
        day = str(int(clock.epoch() // 86_400))
        links = [*wheelhouse(local_folders(request.options)), *versions(local_paths(request))]
        key = key_of(request, [digest for _, digest in copies], links, _place(), day)
        try:
            root = root_of(environ)
            lock = (root / f"{key}.lock").open("ab")
            fcntl.flock(lock, fcntl.LOCK_SH)  # from here on nobody removes it
            with (root / f"{key}.making").open("ab") as making:
                fcntl.flock(making, fcntl.LOCK_EX)  # another process may be installing the same
                if not (root / key / _COMPLETE).exists():
                    words = arguments(request, [path for path, _ in copies], temporary / "unpacked")
                    _install(root, key, request, words, environ)
                    _remove_surplus(root, key, kept_bytes)
            now = clock.epoch()
            with suppress(OSError):  # another user's
                os.utime(root / key / _COMPLETE, (now, now))
            return Installation(root / key, lock)
        except OSError as failed:
            raise ConfigError(f"The modules of --{MODULES} cannot be installed: {failed}; check the disk.") from failed


def root_of(environ: Mapping[str, str]) -> Path:
    """Return the folder of all installations. An image's cache folder is read-only; its state folder is not."""
    for parent in (cache_root(environ), state_root(environ)):
        root = parent / _FOLDER
        with suppress(OSError):
            root.mkdir(parents=True, exist_ok=True)
            if os.access(root, os.W_OK):
                return root
    raise ConfigError(
        f"The modules of --{MODULES} need a folder that can be written to; set GLUEPOT_HOME or GLUEPOT_STATE to one."
    )


def _place() -> list[str]:
    """Return what an installation depends on: this Python, and the packages that it already has."""
    found = [path.name for folder in own_packages() for path in sorted(Path(folder).glob("*.dist-info"))]
    return [sys.version, sysconfig.get_platform(), *found]


def _install(root: Path, key: str, request: Request, words: list[str], environ: Mapping[str, str]) -> None:
    building = root / f".{key}.building"
    shutil.rmtree(building, ignore_errors=True)  # of a process that was killed
    venv.create(building, with_pip=False)
    # A line with only the path would leave out what the .pth files of that folder add, as editable packages have.
    lines = [f"import site; site.addsitedir({folder!r})\n" for folder in own_packages()]
    (_site(building) / OWN_PATHS).write_text("".join(lines))
    log.info("python_modules_installing", modules=str(request))
    own = {name: value for name, value in environ.items() if name not in _NOT_FOR_PIP}
    if (pip := _pip(root)) is not None:
        own["PYTHONPATH"] = os.pathsep.join(filter(None, [str(pip), own.get("PYTHONPATH", "")]))
    command = [str(building / "bin" / "python"), "-m", "pip", "install"]
    plain = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-color", "--no-warn-conflicts"]
    done = subprocess.run(
        [*command, *plain, *words], env=own, check=False, text=True, capture_output=True, stdin=subprocess.DEVNULL
    )
    said = done.stdout + done.stderr
    sys.stderr.write(said)
    if done.returncode:
        shutil.rmtree(building, ignore_errors=True)
        raise ConfigError(
            f"--{MODULES}: pip cannot install {request}: {reason_of(said)}; correct the name or version, or name a"
            f' folder of wheels with --{OPTIONS} "--no-index --find-links=FOLDER".'
        )
    (building / _COMPLETE).write_text(str(used_bytes(building)))
    shutil.rmtree(root / key, ignore_errors=True)
    building.rename(root / key)


def _pip(root: Path) -> Path | None:
    """Return a folder with the pip that came with Python, unpacked once; None if the environment has a pip.

    Raises:
        ConfigError: there is none.
    """
    if find_spec("pip") is not None:
        return None
    ensurepip = find_spec("ensurepip")
    folders = [sysconfig.get_config_var("WHEEL_PKG_DIR"), _HOST_WHEELS]
    if ensurepip is not None and ensurepip.origin:
        folders.insert(0, str(Path(ensurepip.origin).parent / "_bundled"))
    wheels = [wheel for folder in folders if folder for wheel in sorted(Path(folder).glob("pip-*.whl"))]
    if not wheels:
        raise ConfigError(f"--{MODULES} needs pip, and this Python has none; install the package pip next to gluepot.")
    folder = root / f"pip-{wheels[-1].name.split('-')[1]}"
    if not folder.exists():
        unpacked = Path(tempfile.mkdtemp(prefix=".pip-", dir=root))
        with zipfile.ZipFile(wheels[-1]) as archive:
            archive.extractall(unpacked)
        try:
            unpacked.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(unpacked, ignore_errors=True)
    return folder


def _remove_surplus(root: Path, newest: str, kept_bytes: int) -> None:
    found = []
    for complete in root.glob(f"*/{_COMPLETE}"):
        with suppress(OSError, ValueError):
            found.append(Kept(complete.parent.name, int(complete.read_text()), complete.stat().st_mtime))
    leftovers = {path.name.split(".")[1] for path in root.glob(".*.*")}
    for key in {*surplus(found, kept_bytes), *leftovers} - {newest}:
        with (root / f"{key}.lock").open("ab") as lock, suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in root.glob(f".{key}.*"):
                shutil.rmtree(left, ignore_errors=True)
            if key not in leftovers:
                gone = root / f".{key}.gone"
                (root / key).rename(gone)  # at once, so that nobody sees a part of it
                shutil.rmtree(gone, ignore_errors=True)


def _site(folder: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
