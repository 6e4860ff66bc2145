"""The parts of an installation: what is there, in which version."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

from gluepot.core.errors import ConfigError
from gluepot.spark.class_archive import archive_path
from gluepot.spark.java import ensure_java

_EXTRA = re.compile(r"""extra\s*==\s*['"](?P<extra>[\w-]+)['"]""")
_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Part:
    """A part.

    Args:
        name: of the part.
        found: its version, or where it is; None if it is missing.
        how: how to get it; empty if it is there.
    """

    name: str
    found: str | None
    how: str = ""


def parts(environ: Mapping[str, str]) -> list[Part]:
    """Return all parts, the extras last."""
    try:
        java = ensure_java(environ)
    except ConfigError as missing:
        of_java = [Part("java", None, str(missing))]
    else:
        archive = archive_path(java.version)
        made = Part("class archive", str(archive)) if archive.exists() else None
        of_java = [
            Part("java", f"{java.version} at {java.home} ({java.origin})"),
            made or Part("class archive", None, "gluepot prepare"),
        ]
    kernel = Part("json kernel", "compiled") if kernel_is_compiled() else None
    return [
        Part("gluepot", version("gluepot")),
        Part("python", f"{platform.python_version()} at {sys.executable}"),
        Part("platform", f"{platform.system()} {platform.machine()}"),
        kernel or Part("json kernel", None, "install a wheel for this platform, or a C compiler"),
        Part("spark", version("pyspark")),
        *of_java,
        *extras(requires("gluepot") or []),
    ]


def extras(required: list[str]) -> list[Part]:
    """Return the extras of a package with the versions of what they bring; one that lacks a package is missing.

    Args:
        required: the requirements of the package, as its metadata has them.
    """
    by_extra: dict[str, list[str]] = {}
    for one in required:
        marker, package = _EXTRA.search(one), _NAME.match(one)
        if marker and package:
            by_extra.setdefault(marker["extra"], []).append(package[0])
    told = []
    for extra, names in sorted(by_extra.items()):
        versions = {name: version_of(name) for name in names}
        there = ", ".join(f"{name} {number}" for name, number in versions.items())
        missing = None in versions.values()
        told.append(Part(f"extra {extra}", None if missing else there, f"pip install 'gluepot[{extra}]'" * missing))
    return told


def version_of(package: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def kernel_is_compiled() -> bool:
    """Return whether the JSON kernel is there."""
    return find_spec("gluepot.frames._json_kernel") is not None
