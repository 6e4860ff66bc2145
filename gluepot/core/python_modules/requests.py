"""What a job asks pip for. Pure."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gluepot.core.errors import ConfigError

MODULES = "additional-python-modules"
OPTIONS = "python-modules-installer-option"

ZIP_OF_WHEELS = ".gluewheels.zip"
_REMOTE = ("s3://", "s3a://", "s3n://")
_FILES = (".whl", ".zip", ".tar.gz", ".txt")
_URL = re.compile(r"[a-z][a-z0-9+]*://|.*@\s*[a-z][a-z0-9+]*://", re.IGNORECASE)
_SECRET = re.compile(r"(?<=://)[^/@\s]+@")
_NAME = re.compile(r"[A-Za-z0-9_.]+(?:-(?!\d)[A-Za-z0-9_.]+)*")
# A part that continues the requirement before it: `pandas>=2,<3`.
_CONTINUES = ("<", ">", "=", "!", "~")
# pip would install somewhere else, or nothing at all.
_ELSEWHERE = frozenset({"--target", "-t", "--prefix", "--root", "--user", "--python", "--dry-run", "--editable", "-e"})
# pip takes the begin of a long option for the whole; these are options of their own.
_OTHERS = frozenset({"--pre", "--no-input"})
_FILE_OPTIONS = ("--constraint", "--requirement", "-c", "-r")
_FILE_URL = re.compile(r"(?:.*@\s*)?file://(?P<path>/.*)")
_NEWEST = frozenset({"--upgrade", "-U", "--force-reinstall"})


@dataclass(frozen=True, slots=True)
class Request:
    """The modules of a job.

    Args:
        modules: names with versions, addresses, and files, in the order given.
        options: the words of pip's options.
    """

    modules: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """Those modules that are files, on a disk or in S3."""
        return tuple(module for module in self.modules if is_file(module))

    @property
    def wants_newest(self) -> bool:
        """Whether an option asks for the newest versions, so that an older installation does not serve."""
        return bool(_NEWEST & set(self.options))

    def __str__(self) -> str:
        """The modules, without passwords in addresses."""
        return ", ".join(_SECRET.sub("****@", module) for module in self.modules)


def request_of(modules: str, options: str) -> Request:
    """Read the values of both parameters.

    Args:
        modules: separated by commas. A comma inside of a requirement, as in `a[b,c]>=1,<2`, does not separate.
        options: as on a command line.

    Raises:
        ConfigError: the options cannot be read, or one of them names another place to install to.
    """
    try:
        words = tuple(shlex.split(options))
    except ValueError as wrong:
        raise ConfigError(f"--{OPTIONS} is {options!r}, which is not a command line; close its quotes.") from wrong
    for word in words:
        name = word.partition("=")[0]
        if _names_a_place(name):
            raise ConfigError(f"--{OPTIONS} has {name}, which Gluepot sets itself; remove it.")
    return Request(tuple(_modules(modules)), words)


def _names_a_place(name: str) -> bool:
    if name.startswith("--"):
        return len(name) > len("--") and name not in _OTHERS and any(place.startswith(name) for place in _ELSEWHERE)
    return name[:2] in _ELSEWHERE


def _modules(text: str) -> Iterable[str]:
    whole = ""
    for part in (part.strip() for part in text.split(",")):
        continues = whole and (part.startswith(_CONTINUES) or whole.count("[") > whole.count("]"))
        if continues:
            whole = f"{whole},{part}"
            continue
        if whole:
            yield whole
        whole = part
    if whole:
        yield whole


def name_of(module: str) -> str:
    """Return the name that a module is imported by, if it is that of its package; `scikit-learn` is `sklearn`."""
    name = _NAME.match(module.rpartition("/")[2] if is_file(module) else module)
    return name[0].replace("-", "_").replace(".", "_") if name else ""


def is_file(module: str) -> bool:
    """Return whether a module is a file that is fetched; pip reads the others."""
    return module.startswith(_REMOTE) or (module.lower().endswith(_FILES) and not _URL.match(module))


def key_of(request: Request, files: Sequence[str], wheelhouse: Sequence[str], place: Sequence[str], day: str) -> str:
    """Return the name of an installation: two of the same name have the same content.

    Args:
        request: the modules.
        files: digests of the contents of its files, in their order.
        wheelhouse: the files in the folders of `--find-links`, each with its version.
        place: what it is installed for: Python, platform, and the packages that are there already.
        day: today. It counts only where the newest versions are asked for.
    """
    names = [module for module in request.modules if not is_file(module)]
    parts = [place, names, request.options, files, wheelhouse, [day] if request.wants_newest else []]
    # A token in an address is renewed twice a day, and says nothing about the content.
    text = "\n".join("\0".join(_SECRET.sub("", word) for word in part) for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def local_folders(options: Sequence[str]) -> list[str]:
    """Return the folders that `--find-links` and `-f` name."""
    found = []
    for at, word in enumerate(options):
        name, equals, value = word.partition("=")
        if name in {"--find-links", "-f"}:
            found.append(value if equals else "".join(options[at + 1 : at + 2]))
        elif word.startswith("-f") and not word.startswith("--"):
            found.append(word[2:])
    return [folder.removeprefix("file://") for folder in found if not _URL.match(folder) or folder.startswith("file:")]


def local_paths(request: Request) -> list[str]:
    """Return the files and folders of this machine that pip reads itself, but for the folders of wheels."""
    found = []
    for at, word in enumerate(request.options):
        name, equals, value = word.partition("=")
        if name in _FILE_OPTIONS:
            found.append(value if equals else "".join(request.options[at + 1 : at + 2]))
        elif name[:2] in _FILE_OPTIONS:
            found.append(word[2:])
    for module in request.modules:
        if (of_url := _FILE_URL.fullmatch(module)) is not None:
            found.append(of_url["path"])
        elif "/" in module and not is_file(module):
            found.append(module)
    return found


def reason_of(messages: str) -> str:
    """Return why pip has failed, out of what it printed."""
    lines = [line.strip() for line in messages.splitlines() if line.strip()]
    errors = [line.partition(":")[2].strip() for line in lines if line.startswith("ERROR:")]
    reason = next(iter(errors), lines[-1] if lines else "it printed no message")
    return _SECRET.sub("****@", reason).rstrip(".")


@dataclass(frozen=True, slots=True)
class Kept:
    """An installation in the cache.

    Args:
        key: its name.
        size_bytes: of its files.
        used_at: when it was used last.
    """

    key: str
    size_bytes: int
    used_at: float


def surplus(kept: Iterable[Kept], limit_bytes: int) -> list[str]:
    """Return the names of the installations to remove: those used longest ago, beyond the limit. The newest stays."""
    newest_first = sorted(kept, key=lambda one: one.used_at, reverse=True)
    total, removed = 0, []
    for at, one in enumerate(newest_first):
        total += one.size_bytes
        if at and total > limit_bytes:
            removed.append(one.key)
    return removed
