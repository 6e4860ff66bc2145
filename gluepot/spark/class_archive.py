"""Archives of the classes that a Java program loads: Spark's, and those of the Kafka broker for development.

The JVM maps an archive instead of reading, checking and linking some 15,000 classes (class data sharing, JEP 350), so
that a start takes half the work. It is made for one Java and one class path; a JVM with another one starts without it.
`gluepot prepare` makes them.
"""

from __future__ import annotations

import shlex
import sys
import zlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

_USE, _RECORD = "-XX:SharedArchiveFile", "-XX:ArchiveClassesAtExit"

# A JVM that cannot use the archive would say so on standard output.
_SILENT = "-Xlog:cds*=off"


def archive_path(java_version: int, class_path: Sequence[Path] = ()) -> Path:
    """Return where an archive of this Python environment lies, whether or not it has been made.

    Args:
        java_version: feature release.
        class_path: of the program; empty for Spark, as PySpark has it.
    """
    jars = ":".join(map(str, class_path))
    program = f"jars-{zlib.crc32(jars.encode()):08x}" if jars else f"spark-{version('pyspark')}"
    return Path(sys.prefix) / "var" / "gluepot" / f"{program}-java-{java_version}.jsa"


def with_archive(options: str, archive: Path) -> str:
    """Return a JVM's options with the archive added, if it exists and the options neither choose nor make one."""
    if _USE in options or _RECORD in options or not archive.exists():
        return options
    return f"{options} {_USE}={shlex.quote(str(archive))} {_SILENT}".strip()


def recording(options: str, archive: Path) -> str:
    """Return a JVM's options that make it write the archive when it ends."""
    return f"{options} {_RECORD}={shlex.quote(str(archive))} {_SILENT}".strip()
