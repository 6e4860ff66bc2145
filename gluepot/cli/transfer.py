"""`gluepot import` and `gluepot export`: definitions from AWS Glue to the service, and back."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from gluepot.cli.output import Output, Row, show
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.service.transfer.documents import read
from gluepot.service.transfer.exporting import EXPORTS, export
from gluepot.service.transfer.importing import Outcome, import_dump
from gluepot.service.transfer.local import local_target

_STDIN = "-"
# What goes with a kind, because the one is of no use without the others.
_TOGETHER = {"registries": ["registries", "schemas", "schema versions"]}
_WORDS = {name.replace(" ", "-"): name for name in EXPORTS if name not in {"schemas", "schema versions"}}


def import_(*files: str, update: bool = False, output: Output = "text") -> None:
    """Create here what `aws glue get-jobs`, `get-triggers` and other commands printed.

    The service of this state folder may run or not. Jobs come before triggers, whatever the order of the files. A
    trigger that is ACTIVATED in a dump fires from now on. The exit code is 1 if something was refused.

    Args:
        files: JSON documents; - or nothing for standard input.
        update: change what exists; without it, it stays as it is.
        output: text for people; json for a list of objects.
    """
    dump = read((name, loaded(name)) for name in files or (_STDIN,))
    outcomes = import_dump(dump, local_target(os.environ, SystemClock()), update=update)
    rows = [_row(one, whole=output == "json") for one in outcomes]
    show(rows, output, "The documents hold nothing to import.")
    if output == "text":
        _tell(outcomes, dump.notes)
    if any(one.refused for one in outcomes):
        raise SystemExit(1)


def export_(*, kind: list[str] | None = None, hide_passwords: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Print the service's definitions as one JSON document that `gluepot import` reads.

    Args:
        kind: print only this kind, such as jobs, triggers or databases; may be given several times. `registries` are
            printed with their schemas.
        hide_passwords: leave the passwords of connections out.
    """
    if unknown := next((one for one in kind or () if one not in _WORDS), None):
        raise ConfigError(f"There is no kind {unknown!r}; use one of {', '.join(_WORDS)}.")
    words = kind or list(_WORDS)
    kinds = [name for word in words for name in _TOGETHER.get(_WORDS[word], [_WORDS[word]])]
    operate = local_target(os.environ, SystemClock()).operate
    print(json.dumps(export(kinds, operate, hide_passwords=hide_passwords), ensure_ascii=False, indent=4))


def _row(one: Outcome, *, whole: bool) -> Row:
    row: Row = {
        "kind": one.kind,
        "created": one.created,
        "updated": one.updated,
        "left": one.left,
        "refused": len(one.refused),
        "fields": one.fields,
        "not_kept": one.not_kept.total(),
    }
    if not whole:
        return row
    refusals = [{"name": name, "reason": reason} for name, reason in one.refused]
    return {**row, "refusals": refusals, "fields_not_kept": dict(sorted(one.not_kept.items()))}


def _tell(outcomes: list[Outcome], notes: list[str]) -> None:
    for one in outcomes:
        for name, reason in one.refused:
            print(f"Refused: {one.kind} {name}: {reason}")
    for one in outcomes:
        if one.not_kept:
            listed = ", ".join(f"{path[1:]} ({count})" for path, count in sorted(one.not_kept.items()))
            print(f"Not kept of {one.kind}: {listed}")
    for note in notes:
        print(f"Note: {note}")


def loaded(name: str) -> Any:
    """Return the JSON of a file, or of standard input for `-`.

    Raises:
        ConfigError: it cannot be read, or is no JSON.
    """
    try:
        text = sys.stdin.read() if name == _STDIN else Path(name).read_text(encoding="utf-8")
        return json.loads(text)
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}; check the path.") from error
    except ValueError as error:
        raise ConfigError(f"{name} is not JSON ({error}); make it with --output json.") from error
