"""What a result was measured with: machine, packages, command."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil

from gluepot.frames.json_kernel import IS_COMPILED

PACKAGES = ("gluepot", "pyspark", "pyarrow", "confluent-kafka", "duckdb")


def described() -> dict[str, object]:
    """Return it as plain values; the processor's name only where Linux tells it."""
    java = subprocess.run(["java", "-version"], capture_output=True, check=False, text=True).stderr.splitlines()
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": f"python -m {_module()} {' '.join(sys.argv[1:])}".strip(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "system": platform.platform(),
        "java": java[0] if java else "unknown",
        "python": platform.python_version(),
        "commit": _commit(),
        "json_kernel": IS_COMPILED,
        "packages": {name: version(name) for name in PACKAGES},
    }


def _commit() -> str:
    """Return what is checked out; `-dirty` after it where more than results of earlier runs was changed."""
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)benchmarks/results")
    return _git("describe", "--always") + ("-dirty" if changed else "")


def _git(*command: str) -> str:
    return subprocess.run(["git", *command], capture_output=True, check=False, text=True).stdout.strip()


def _module() -> str:
    main = sys.modules["__main__"].__spec__
    return "" if main is None else main.name.removesuffix(".__main__")


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")
