"""A new lock from the roots of the old one."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from gluepot.servers.jars import ivy
from gluepot.servers.jars.fetch import sha256_of
from gluepot.servers.jars.lockfile import JarSet, LockedJar, Module
from gluepot.spark.java import ensure_java


def relock(jars: JarSet) -> JarSet:
    """Resolve the roots of a set anew, through the network, and lock what comes out.

    Raises:
        TransientError: the repository cannot be reached or lacks a module.
    """
    with tempfile.TemporaryDirectory(prefix="gluepot-lock-") as folder:
        java = ensure_java(os.environ).java
        retrieved = ivy.retrieve(java, jars.roots, Path(folder), transitive=jars.transitive)
        kept = (path for path in retrieved.rglob("*.jar") if path.relative_to(retrieved).parts[0] not in jars.without)
        locked = sorted(LockedJar(_module_of(retrieved, path), sha256_of(path)) for path in kept)
    return replace(jars, jars=tuple(locked))


def _module_of(retrieved: Path, path: Path) -> Module:
    group, name, version, _file = path.relative_to(retrieved).parts
    return Module(group, name, version, path.stem.removeprefix(f"{name}-{version}").removeprefix("-"))
