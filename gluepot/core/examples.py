"""The scripts of `examples/`."""

from __future__ import annotations

from pathlib import Path

from gluepot.core.errors import ConfigError


def example(name: str) -> Path:
    """Return a script of `examples/`, from the checkout or from the installed package."""
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "examples", here.parents[1] / "examples"):
        if (folder / name).is_file():
            return folder / name
    raise ConfigError(f"The script examples/{name} is not installed; run this from a checkout.")
