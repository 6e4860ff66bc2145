"""Builds the optional kernel of `gluepot.frames` where there is a C compiler (docs/decisions/0027)."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path("gluepot", "frames", "json_kernel.c")
COMPILED = Path("gluepot", "frames", "_json_kernel.abi3.so")  # one for all versions of Python from 3.11 on
FLAGS = ("-O3", "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra")
MAC_FLAGS = ("-undefined", "dynamic_lookup")


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's, only known while it builds
    """Compiles before a wheel, or an editable one, is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Add the kernel to the wheel; one without it reads the same records, more slowly."""
        if problem := compile_kernel(Path(self.root)):
            self.app.display_warning(f"The JSON kernel is left out, and records are read by pyarrow alone: {problem}")
            return
        build_data["artifacts"].append(COMPILED.as_posix())
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def compile_kernel(root: Path) -> str | None:
    """Compile into the folder of the sources; return why that did not work, or None."""
    (root / COMPILED).unlink(missing_ok=True)
    headers = sysconfig.get_path("include")
    if not Path(headers, "Python.h").exists():
        return f"{headers} has no Python.h; install Python's headers."
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if shutil.which(compiler[0]) is None:
        return f"there is no C compiler '{compiler[0]}'; install one, or set CC."
    command = [
        *compiler,
        *flags(sys.platform, os.environ),
        f"-I{headers}",
        str(root / SOURCE),
        "-o",
        str(root / COMPILED),
    ]
    ended = subprocess.run(command, capture_output=True, check=False, text=True)
    return None if ended.returncode == 0 else f"{shlex.join(command)} failed:\n{ended.stderr}"


def flags(platform: str, environ: Mapping[str, str]) -> list[str]:
    """Return the compiler's flags on a platform; on macOS, ARCHFLAGS says for which processor a wheel is."""
    return [*FLAGS, *MAC_FLAGS, *shlex.split(environ.get("ARCHFLAGS", ""))] if platform == "darwin" else [*FLAGS]
