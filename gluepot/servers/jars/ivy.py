"""Apache Ivy, from the archive inside pyspark, as the client that fetches from the Maven repository.

Ivy gets settings, module file and cache of our own: its defaults look into `~/.m2`, where an entry with a descriptor
and no archive breaks it.
"""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from gluepot.core.errors import ConfigError, TransientError
from gluepot.servers.jars.lockfile import Module
from gluepot.servers.jars.network import jvm_network_options

TIMEOUT_SECS = 600.0
PROBLEM_HEADINGS = (":::: ERRORS", ":::: WARNINGS")
_MAVEN = "http://ant.apache.org/ivy/maven"
RETRIEVED = "[organisation]/[module]/[revision]/[artifact]-[revision](-[classifier]).[ext]"


def settings_xml(cache: Path, *, transitive: bool) -> str:
    """Return settings with one Maven resolver at its default place.

    Without `transitive` no descriptor is read, only archives: 46 of them took 12 s instead of 40.
    """
    root = Element("ivysettings")
    SubElement(root, "settings", defaultResolver="maven")
    SubElement(root, "caches", defaultCacheDir=str(cache))
    descriptors = "true" if transitive else "false"
    SubElement(
        SubElement(root, "resolvers"),
        "ibiblio",
        name="maven",
        m2compatible="true",
        usepoms=descriptors,
        useMavenMetadata="false",
    )
    return tostring(root, encoding="unicode")


def module_xml(modules: Sequence[Module], *, transitive: bool) -> str:
    """Return the module file that depends on `modules`, and on what they depend on if `transitive`."""
    root = Element("ivy-module", version="2.0")
    SubElement(root, "info", organisation="gluepot", module="jars")
    SubElement(SubElement(root, "configurations"), "conf", name="default")
    dependencies = SubElement(root, "dependencies")
    for module in modules:
        dependency = SubElement(
            dependencies,
            "dependency",
            org=module.group,
            name=module.name,
            rev=module.version,
            transitive=str(transitive).lower(),
            conf="default->default",
        )
        if module.classifier:
            archive = {"name": module.name, "ext": "jar", f"{{{_MAVEN}}}classifier": module.classifier}
            SubElement(dependency, "artifact", archive)
    return tostring(root, encoding="unicode")


def retrieve(java: Path, modules: Sequence[Module], folder: Path, *, transitive: bool) -> Path:
    """Fetch archives; blocks for as long as the network takes.

    Args:
        java: the executable that runs Ivy.
        modules: what to fetch.
        folder: exists; gets Ivy's own files, its log among them.
        transitive: fetch the modules' dependencies too.

    Returns:
        the folder below `folder` that holds each archive at its `Module.path`.

    Raises:
        TransientError: the repository cannot be reached or lacks a module.
    """
    settings, module, log, out = (folder / n for n in ("ivysettings.xml", "ivy.xml", "ivy.log", "retrieved"))
    settings.write_text(settings_xml(folder / "cache", transitive=transitive))
    module.write_text(module_xml(modules, transitive=transitive))
    command: list[str | Path] = [java, f"-Divy.default.ivy.user.dir={folder}", *jvm_network_options(folder)]
    command += ["-jar", _ivy_jar(), "-settings", settings, "-ivy", module, "-retrieve", f"{out}/{RETRIEVED}"]
    with log.open("w") as output:
        try:
            subprocess.run(
                command,
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=TIMEOUT_SECS,
            )
        except subprocess.SubprocessError as error:
            raise TransientError(
                f"{len(modules)} Java archives could not be fetched ({first_error(log.read_text(errors='replace'))}); "
                "this needs a package network once, so connect one, or set the proxy variables, and run it again.",
            ) from error
    return out


def first_error(log: str) -> str:
    """Return the line of Ivy's log that tells most: the first of its errors, else of its warnings, else the last."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for heading in PROBLEM_HEADINGS:
        if heading in lines[:-1]:
            return lines[lines.index(heading) + 1]
    return lines[-1] if lines else "Ivy said nothing"


def _ivy_jar() -> Path:
    package = importlib.util.find_spec("pyspark")
    origin = package.origin if package else None
    found = sorted(Path(origin).parent.glob("jars/ivy-*.jar")) if origin else []
    if not found:
        raise ConfigError("The installed pyspark has no jars/ivy-*.jar; install pyspark from PyPI.")
    return found[-1]
