"""Does what a Dockerfile's instructions say, without a container: a folder stands for the image's `/`."""

from __future__ import annotations

import os
import shutil
import string
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.dockerfile import Instruction, Stage


@dataclass
class Replay:
    """One build. Stages share the folder, so copying from an earlier stage to the same path has nothing to do.

    Args:
        root: stands for `/`.
        context: the build context.
        environ: what RUN finds in its environment beside the image's own.
        env: the image's own variables so far; absolute paths in them are moved below `root`.
        folder: the working directory.
    """

    root: Path
    context: Path
    environ: Mapping[str, str]
    env: dict[str, str] = field(default_factory=dict)
    folder: Path = field(init=False)

    def __post_init__(self) -> None:
        self.folder = self.root

    def stage(self, stage: Stage) -> None:
        """Replay one stage, with an environment of its own."""
        self.env, self.folder = {}, self.root
        steps = {
            "ARG": self._arg,
            "ENV": self._env,
            "WORKDIR": self._workdir,
            "COPY": self._copy,
            "RUN": self._run,
            "VOLUME": self._volume,
        }
        for instruction in stage.instructions:
            if step := steps.get(instruction.keyword):
                step(instruction)

    def inside(self, path: str) -> Path:
        """Return where a path of the image is."""
        return self.root / path.lstrip("/") if path.startswith("/") else self.folder / path

    def _env(self, instruction: Instruction) -> None:
        for name, value in instruction.pairs.items():
            moved = ":".join(str(self.inside(part)) if part.startswith("/") else part for part in value.split(":"))
            self.env[name] = string.Template(moved).substitute({**self.environ, **self.env})

    def _arg(self, instruction: Instruction) -> None:
        (word,) = instruction.words
        name, _, default = word.partition("=")
        self.env[name] = self.environ.get(name, default)

    def _workdir(self, instruction: Instruction) -> None:
        self.folder = self.inside(instruction.text)
        self.folder.mkdir(parents=True, exist_ok=True)

    def _volume(self, instruction: Instruction) -> None:
        for path in instruction.words:
            self.inside(path).mkdir(parents=True, exist_ok=True)

    def _copy(self, instruction: Instruction) -> None:
        *sources, target = instruction.words
        if "from" in instruction.flags:
            assert sources == [target], f"{instruction.text}: the replay's stages share one folder"
            assert self.inside(target).exists(), f"{target} was not built"
            return
        for source in sources:
            origin, place = self.context / source, self.inside(target)
            if origin.is_dir():
                shutil.copytree(origin, place, dirs_exist_ok=True)
            else:
                shutil.copy(origin, place / origin.name if target.endswith("/") else place)

    def _run(self, instruction: Instruction) -> None:
        # From the package cache if it has everything, so that a machine without a network can replay a second time.
        for offline in ("1", "0"):
            ran = subprocess.run(
                ["sh", "-c", instruction.text],
                cwd=self.folder,
                env={**self.environ, **self.env, "UV_OFFLINE": offline},
                capture_output=True,
                check=False,
                stdin=subprocess.DEVNULL,
                text=True,
            )
            if ran.returncode == 0:
                return
        raise AssertionError(f"RUN {instruction.text}\nended with {ran.returncode}\n{ran.stdout}{ran.stderr}")


def copy_files(repository: Path, files: list[Path], target: Path) -> None:
    """Copy files and links of a repository with their folders."""
    for file in files:
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / file, target / file, follow_symlinks=False)


def set_writable(folder: Path, *, writable: bool) -> None:
    """Give or take everybody's permission to write to a folder and all that is in it."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | 0o200 if writable else mode & ~0o222)


def bound_by_permissions() -> list[str]:
    """Return what goes before a command so that file permissions count for it, also where the tests run as root."""
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


_MOUNT = """
set -e
options=$1 image=$2 folder=$PWD
shift 2
new=$(mktemp -d)
mount -t tmpfs -o "$options" tmpfs "$new"
case $image in /tmp/*)
    mkdir -p "$new/${image#/tmp/}"
    mount --bind "$image" "$new/${image#/tmp/}" ;;
esac
mount --move "$new" /tmp
cd "$folder"
exec "$@"
"""


def tmpfs_options(entry: str) -> str:
    """Return the options with which Docker mounts an entry of `tmpfs`: its own defaults, then those of the entry."""
    return ",".join(filter(None, ["rw,noexec,nosuid,nodev", entry.partition(":")[2]]))


def with_tmpfs(options: str, image: Path) -> list[str]:
    """Return what goes before a command so that it finds a file system in memory at /tmp, and the image where it was."""
    own = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", *own, "sh", "-c", _MOUNT, "sh", options, str(image)]


def can_mount() -> bool:
    """Return whether `with_tmpfs` works here."""
    command = with_tmpfs("rw", Path("/nowhere"))
    return (
        shutil.which("unshare") is not None
        and not subprocess.run([*command, "true"], check=False, capture_output=True).returncode
    )
