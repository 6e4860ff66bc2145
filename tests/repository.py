"""The files of this repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def listed(*patterns: str) -> list[Path]:
    """Return the files and links with names like these, also those not committed yet, relative to the repository."""
    asked = ("git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns)
    names = subprocess.run(asked, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout.splitlines()
    return [path for path in map(Path, names) if (REPOSITORY / path).is_symlink() or (REPOSITORY / path).exists()]
