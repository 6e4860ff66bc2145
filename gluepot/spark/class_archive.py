"""An archive of the classes that Spark loads. With it, the start of a driver's JVM takes half the work.

The JVM maps it instead of reading, checking and linking some 15,000 classes (class data sharing, JEP 350). It is made
for one Java and the jars of one PySpark; a JVM with another class path starts without the archive.
`gluepot prepare` makes it.
"""

from __future__ import annotations

import shlex
import sys
from importlib.metadata import version
from pathlib import Path

_USE, _RECORD = "-XX:SharedArchiveFile", "-XX:ArchiveClassesAtExit"

# A JVM that cannot use the archive would say so on standard output.
_SILENT = "-Xlog:cds*=off"


def archive_path(java_version: int) -> Path:
    """Return where the archive of this Python environment lies, whether or not it has been made.

    Args:
        java_version: feature release.
    """
    return Path(sys.prefix) / "var" / "gluepot" / f"spark-{version('pyspark')}-java-{java_version}.jsa"


def with_archive(options: str, archive: Path) -> str:
    """Return a JVM's options with the archive added, if it exists and the options neither choose nor make one."""
    if _USE in options or _RECORD in options or not archive.exists():
        return options
    return f"{options} {_USE}={shlex.quote(str(archive))} {_SILENT}".strip()


def recording(options: str, archive: Path) -> str:
    """Return a JVM's options that make it write the archive when it ends."""
    return f"{options} {_RECORD}={shlex.quote(str(archive))} {_SILENT}".strip()
