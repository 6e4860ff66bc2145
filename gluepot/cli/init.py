"""`gluepot init`: writes a small project that runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from gluepot.core.errors import ConfigError
from gluepot.core.examples import example

Kind = Literal["kafka", "files"]

NEXT: Mapping[Kind, Sequence[tuple[str, str]]] = {
    "kafka": [
        ("gluepot up", "starts a broker with the topic orders"),
        ("gluepot produce orders --file orders.jsonl --count 1000", "sends orders to it"),
        ("gluepot run --until-caught-up", "reads them into data/orders"),
        ("gluepot table verify data/orders", "checks that each order is there once"),
    ],
    "files": [
        ("gluepot run", "reads input into data/orders; a second run reads only files that are new"),
        ("gluepot table verify data/orders", "checks what was written"),
    ],
}
TEST = ("pytest", "tests the script; needs `pip install pytest`")
_RENAMED = {"gitignore": ".gitignore"}


def init(folder: Path = Path(), *, source: Kind = "kafka") -> None:
    """Write a project that runs: a script, gluepot.toml, sample data, and a test of the script.

    Args:
        folder: where; it is made if it is missing. Nothing in it is overwritten.
        source: what the script reads: a stream of Kafka, or files.
    """
    template = example(f"projects/{source}/job.py").parent
    files = {_target(folder, one.relative_to(template)): one for one in sorted(template.rglob("*")) if one.is_file()}
    there = [str(target) for target in files if target.exists()]
    if there:
        raise ConfigError(f"{', '.join(there)} exists already; give a new folder, as in `gluepot init my-project`.")
    try:
        for target, one in files.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(one.read_bytes())
    except OSError as wrong:
        raise ConfigError(f"{folder} cannot be written ({wrong.strerror}); give another folder.") from wrong
    print(f"{folder.absolute()} has a project with {', '.join(str(one.relative_to(folder)) for one in files)}. Next:")
    steps = [*NEXT[source], TEST]
    if folder.resolve() != Path.cwd():
        steps.insert(0, (f"cd {folder}", ""))
    width = max(len(command) for command, _ in steps)
    for command, effect in steps:
        print(f"  {command:<{width}}  {f'# {effect}' if effect else ''}".rstrip())


def _target(folder: Path, name: Path) -> Path:
    return folder / name.with_name(_RENAMED.get(name.name, name.name))
