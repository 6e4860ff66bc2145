"""python -m scripts.first_hour > docs/first-hour.md: the tutorial in an empty environment, as a stranger meets it.

It builds a wheel, installs it into a new environment, and runs the commands of docs/tutorial.md and nothing else, with
folders for state and cache that did not exist before. Packages come from uv's cache if it has them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.bootstrap import find_uv
from tests.image_replay import copy_files
from tests.repository import REPOSITORY, listed
from tests.snippets import Done, done

TUTORIAL = REPOSITORY / "docs" / "tutorial.md"
EXTRAS = "jvm"
SECS = 1200.0
_KEPT = ("HOME", "LANG", "LC_ALL", "TMPDIR", "JAVA_HOME", "SSL_CERT_FILE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_OF_THE_SHELL = ".snippets.sh: line "
_PATH = "/usr/local/bin:/usr/bin:/bin"

_HEAD = """<!-- Made by `python -m scripts.first_hour`; do not edit. -->

# The first hour

The commands of the [tutorial](tutorial.md), run in an empty environment: a new Python environment
with the wheel and nothing else, no state, no cache of archives. Packages came from the installer's
cache, archives of Java from the network.
"""


@dataclass(frozen=True, slots=True)
class Hour:
    """What a stranger saw.

    Args:
        install_secs: to make the environment and install the wheel.
        commands: those of the tutorial.
    """

    install_secs: float
    commands: Sequence[Done]

    def secs_until(self, beginning: str) -> float:
        """Return the seconds from the first command of the tutorial to the end of the one that begins so."""
        return next(one.secs for one in self.commands if one.command.line.startswith(beginning))


def spend(folder: Path, environ: Mapping[str, str], home: Path | None = None) -> Hour:
    """Install into a new environment and do what the tutorial says.

    Args:
        folder: an empty folder.
        environ: the environment of this process.
        home: a cache of archives; None for an empty one.
    """
    sources = folder / "sources"
    copy_files(REPOSITORY, listed(), sources)
    uv, venv = find_uv(), folder / "venv"
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", folder / "dist"], cwd=sources, check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    began = time.monotonic()
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, venv], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", venv, f"{wheel}[{EXTRAS}]"], check=True)
    install_secs = time.monotonic() - began
    given = {name: environ[name] for name in _KEPT if name in environ}
    own = {
        "PATH": f"{venv / 'bin'}:{_PATH}",
        "GLUEPOT_STATE": str(folder / "state"),
        "GLUEPOT_HOME": str(home or folder / "home"),
        "COLUMNS": "100",
    }
    work = folder / "work"
    work.mkdir()
    text = TUTORIAL.read_text(encoding="utf-8")
    return Hour(install_secs, list(done(text, work, {**given, **own}, SECS, with_servers=True)))


def document(hour: Hour, folder: Path) -> str:
    """Return the page: the times, and each command with what it said."""
    times = {
        "Installation": hour.install_secs,
        "From then to the first rows": hour.secs_until("until gluepot table files"),
        "From then to the verified table": hour.secs_until("gluepot table verify"),
    }
    parts = [_HEAD, "\n", *(f"- {what}: {secs:.0f} s\n" for what, secs in times.items())]
    for one in hour.commands:
        said = one.said.replace(str(folder / "work"), "/home/you").replace(str(folder), "/home/you")
        lines = [line.rstrip() for line in said.splitlines() if not line.startswith(_OF_THE_SHELL)]
        command = " ".join(one.command.line.split())
        shown = "\n".join([f"$ {command}", *lines]).strip()
        parts.append(f"\nAfter {one.secs:.0f} s:\n\n```console\n{shown}\n```\n")
    return "".join(parts)


def main() -> None:
    """Print the page; end with 1 if a command did not do what the tutorial says."""
    with tempfile.TemporaryDirectory(prefix="first-hour-") as name:
        folder = Path(name)
        hour = spend(folder, os.environ)
        wrong = [said for one in hour.commands if (said := one.wrong())]
        if wrong:
            sys.exit("\n".join(wrong))
        print(document(hour, folder), end="")


if __name__ == "__main__":
    main()
