"""What a script is given for a run: the user's arguments, and places of its own for what it writes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from gluepot.core.errors import ConfigError

RUN = "{run}"
"""Stands for the folder of a run in the user's arguments."""
OWN = ("JOB_NAME", "TempDir")
PLACES = ("path", "output", "location", "dir", "folder", "target", "bucket", "checkpoint", "dest")
"""Names of arguments that hold one of these are taken for places to write to."""


def asked_names(source: str) -> tuple[str, ...]:
    """Return the names that a script asks `getResolvedOptions` for, as far as they are written there.

    Raises:
        SyntaxError: it is no Python.
    """
    names: dict[str, None] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _name(node.func) == "getResolvedOptions" and len(node.args) > 1:
            for text in ast.walk(node.args[1]):
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    names[text.value] = None
    return tuple(names)


def arguments_of_run(asked: Sequence[str], given: Sequence[str], folder: Path) -> list[str]:
    """Return the arguments of one run.

    Args:
        asked: names that the script asks for.
        given: the user's; `{run}` in them becomes the folder.
        folder: folder of this run.

    Raises:
        ConfigError: the user gave a `TempDir`, which each run needs for itself, or a name is asked for that has no
            value and is no place.
    """
    there = {token[2:].partition("=")[0] for token in given if token.startswith("--")}
    if "TempDir" in there:
        raise ConfigError("--TempDir is given, but each run of the script needs one of its own; omit it.")
    added = [] if "JOB_NAME" in there else ["--JOB_NAME", "bench"]
    added += ["--TempDir", str(folder / "temp")]
    for name in asked:
        if name in there or name in OWN:
            continue
        if not any(part in name.lower() for part in PLACES):
            raise ConfigError(f"The script asks for --{name}; give it after `--`, as Glue would.")
        added += [f"--{name}", str(folder / name)]
    return [*added, *(token.replace(RUN, str(folder)) for token in given)]


def _name(function: ast.expr) -> str:
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
