"""Builds the optional kernels where there is a C compiler (docs/decisions/0027 and 0053)."""

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

# Each serves all versions of Python from 3.11 on.
KERNELS = {
    Path("gluepot", "frames", "json_kernel.c"): Path("gluepot", "frames", "_json_kernel.abi3.so"),
    Path("gluepot", "connectors", "kafka", "consumer.c"): Path("gluepot", "connectors", "kafka", "_consumer.abi3.so"),
}
FLAGS = ("-O3", "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra")
MAC_FLAGS = ("-undefined", "dynamic_lookup")


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's, only known while it builds
    """Compiles before a wheel, or an editable one, is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Add the kernels to the wheel; one without them reads the same records, more slowly."""
        if problem := compile_kernels(Path(self.root)):
            self.app.display_warning(f"The compiled kernels are left out, and records are read by others: {problem}")
            return
        build_data["artifacts"] += [compiled.as_posix() for compiled in KERNELS.values()]
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def compile_kernels(root: Path) -> str | None:
    """Compile into the folders of the sources; return why that did not work, or None."""
    for compiled in KERNELS.values():
        (root / compiled).unlink(missing_ok=True)
    headers = sysconfig.get_path("include")
    if not Path(headers, "Python.h").exists():
        return f"{headers} has no Python.h; install Python's headers."
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if shutil.which(compiler[0]) is None:
        return f"there is no C compiler '{compiler[0]}'; install one, or set CC."
    for source, compiled in KERNELS.items():
        files = [f"-I{headers}", str(root / source), "-o", str(root / compiled)]
        command = [*compiler, *flags(sys.platform, os.environ), *files]
        ended = subprocess.run(command, capture_output=True, check=False, text=True)
        if ended.returncode:
            return f"{shlex.join(command)} failed:\n{ended.stderr}"
    return None


def flags(platform: str, environ: Mapping[str, str]) -> list[str]:
    """Return the compiler's flags on a platform; on macOS, ARCHFLAGS says for which processor a wheel is."""
    return [*FLAGS, *MAC_FLAGS, *shlex.split(environ.get("ARCHFLAGS", ""))] if platform == "darwin" else [*FLAGS]
