"""`gluepot --install-completion`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from cyclopts.completion.detect import ShellDetectionError

from gluepot.core.errors import ConfigError


def install(*, shell: Literal["bash", "zsh", "fish"] | None = None, to: Path | None = None) -> None:
    """Complete commands, options and their values in your shell.

    Args:
        shell: the shell; by default the one that runs this.
        to: write the script to this file, and leave the shell's own settings alone.
    """
    from gluepot.cli.main import app  # noqa: PLC0415  it imports this module by its name

    try:
        path = app.install_completion(shell=shell, output=to, add_to_startup=to is None)
    except ShellDetectionError as unknown:
        raise ConfigError("Which shell runs this cannot be told; give --shell bash, zsh or fish.") from unknown
    except OSError as refused:
        raise ConfigError(f"{refused.filename} cannot be written ({refused.strerror}); give --to FILE.") from refused
    print(f"{path} is written; new shells complete `gluepot`.")
