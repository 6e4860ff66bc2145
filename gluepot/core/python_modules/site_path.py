"""Puts the installed modules on the search path of a process: after Python's own library, before Gluepot's packages."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import Distribution, distributions
from pathlib import Path

from gluepot.core.errors import ConfigError
from gluepot.core.python_modules.requests import MODULES

VARIABLE = "GLUEPOT_PYTHON_MODULES"
"""Names the folder for workers on the same machine."""

SHIPPED = "gluepot-modules"
"""The folder in the working folder of an executor on another machine, where Spark unpacks the modules."""

OWN_PATHS = "gluepot-packages.pth"
"""The file in an installation that adds Gluepot's own packages to it."""

# Every worker has loaded these before it sees the modules of a job.
_ALWAYS_LOADED = frozenset({"py4j", "pyarrow", "pyspark", "numpy"})
# The product's own modules, and those of which it can have one version only.
_OWN = frozenset({"awsglue", "awsgluedq", "awsglueml", "gluepot", *_ALWAYS_LOADED})


def placed(path: Sequence[str], added: Sequence[str], packages: Collection[str]) -> list[str]:
    """Return a search path with entries before the first folder of installed packages. Pure."""
    at = next((at for at, entry in enumerate(path) if entry in packages), len(path))
    return [*path[:at], *added, *path[at:]]


def own_packages() -> list[str]:
    """Return the folders of the packages that this Python has."""
    return list(dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]))


def add_site(folder: Path) -> list[str]:
    """Add a folder of installed modules to this process; return the new entries of the path."""
    before = list(sys.path)
    sys.path.append(str(folder))
    for file in sorted(folder.glob("*.pth")):
        if file.name != OWN_PATHS:
            site.addpackage(str(folder), file.name, set(before))
    added = [entry for entry in sys.path if entry not in before]
    sys.path[:] = placed(before, added, own_packages())
    return added


def for_workers() -> None:
    """Let a Python that Spark has started import the modules of its job: those that Spark has sent, or the driver's."""
    for folder in (Path(SHIPPED).absolute(), Path(os.environ.get(VARIABLE, ""))):
        if folder.is_absolute() and folder.is_dir():
            add_site(folder)
            return


@contextmanager
def on_path(folder: Path) -> Iterator[None]:
    """Let this process import the installed modules.

    Raises:
        ConfigError: this process has loaded another version of one of them already.
    """
    loaded = {name.partition(".")[0] for name in sys.modules}
    theirs = {_name(one): one for one in distributions(path=[str(folder)])}
    ours = {_name(one): one.version for one in distributions(path=own_packages())}
    brought = {name: (one.version, _tops(one)) for name, one in theirs.items()}
    for name, (_, modules) in brought.items():
        hidden = sorted(one for one in _OWN.intersection(modules) if _is_module(folder, one))
        if hidden and name not in ours:
            raise ConfigError(
                f"--{MODULES} brings {name}, whose module {hidden[0]} would hide Gluepot's own; leave {name} out, or"
                " name what it depends on."
            )
    if conflicts := other_versions(brought, ours, loaded):
        name, wanted, version = conflicts[0]
        raise ConfigError(
            f"--{MODULES} installs {name} {wanted}, but Gluepot runs with {name} {version} in the same process;"
            f" remove the version, or install {name}=={wanted} in the environment of gluepot."
        )
    added = add_site(folder)
    try:
        yield
    finally:
        sys.path[:] = [entry for entry in sys.path if entry not in added]  # the script may have changed it


def _is_module(folder: Path, name: str) -> bool:
    """Return whether a folder has a module, and not only files beside one of the same name, such as stubs."""
    return (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists()


def other_versions(
    theirs: Mapping[str, tuple[str, Collection[str]]], ours: Mapping[str, str], loaded: Collection[str]
) -> list[tuple[str, str, str]]:
    """Return the packages whose new version cannot be used any more, with the new and the loaded version. Pure.

    Args:
        theirs: of each new package, its version and its modules.
        ours: versions of the packages that are there already.
        loaded: modules that the process has loaded.
    """
    return [
        (name, version, ours[name])
        for name, (version, modules) in sorted(theirs.items())
        if ours.get(name, version) != version and (name in _ALWAYS_LOADED or not set(modules).isdisjoint(loaded))
    ]


def _name(package: Distribution) -> str:
    return package.metadata["Name"].lower().replace("_", "-").replace(".", "-")


def _tops(package: Distribution) -> set[str]:
    """Return the top-level modules of a package."""
    if names := package.read_text("top_level.txt"):
        return set(names.split())
    parts = [file.parts for file in package.files or () if file.suffix == ".py"]
    return {one[0].removesuffix(".py") for one in parts}
