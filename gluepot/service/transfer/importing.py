"""Creates what a dump describes, by the service's own operations, and compares what it became with the dump."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from gluepot.service.errors import ServiceError
from gluepot.service.transfer.documents import Dump
from gluepot.service.transfer.fields import changed, general, times
from gluepot.service.transfer.kinds import KINDS, NOT_HERE, Portable, Thing
from gluepot.service.wire.shapes import model_of

Operate = Callable[[str, Mapping[str, Any]], dict[str, Any]]
KeepVersion = Callable[[Thing], bool]
_EXISTS = frozenset({"AlreadyExistsException", "IdempotentParameterMismatchException"})
_DEACTIVATED = "DEACTIVATED"


@dataclass(slots=True)
class Outcome:
    """What became of the things of one kind.

    Args:
        kind: its name.
        created: number of things.
        updated: number of things.
        left: number of things that existed and were not touched.
        refused: names, with the reasons.
        fields: number of the fields of what was created or updated.
        not_kept: paths of the fields that are not as in the dump, with their numbers.
    """

    kind: str
    created: int = 0
    updated: int = 0
    left: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)
    fields: int = 0
    not_kept: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Target:
    """Where things are imported to.

    Args:
        operate: calls an operation of the service.
        keep_version: adds a version of a schema with its id; returns False if it is there already.
        set_time: has what follows done at a time, in seconds since 1970; at the present time if it is None.
    """

    operate: Operate
    keep_version: KeepVersion
    set_time: Callable[[float | None], None]


def import_dump(dump: Dump, target: Target, *, update: bool) -> list[Outcome]:
    """Import a dump; return what became of it, by kind.

    Args:
        dump: the things.
        target: where they are imported to.
        update: change what exists; otherwise it is left as it is.
    """
    outcomes, done = [], []
    for kind in KINDS.values():
        if kind.name in dump.things:
            outcomes.append(outcome := Outcome(kind.name))
            done += [
                (kind, thing, outcome)
                for thing in _ordered(kind, dump.things[kind.name])
                if _import_one(kind, thing, outcome, target, update=update)
            ]
    # Only now, because a schema tells of its versions, and an index of its table.
    for kind, thing, outcome in done:
        _finish(kind, thing, outcome, target)
    for name, reason in NOT_HERE.items():
        if name in dump.things:
            outcomes.append(Outcome(name, refused=[(str(one.get("Name", "")), reason) for one in dump.things[name]]))
    return outcomes


def _ordered(kind: Portable, things: Iterable[Thing]) -> list[Thing]:
    if kind.name != "schema versions":
        return list(things)
    return sorted(things, key=lambda one: (str(one.get("SchemaArn")), one.get("VersionNumber") or 0))


def _import_one(kind: Portable, thing: Thing, outcome: Outcome, target: Target, *, update: bool) -> bool:
    """Create or change a thing; return whether that was done."""
    try:
        became = _created(kind, thing, target, update=update)
    except ServiceError as refused:
        outcome.refused.append((kind.title(thing), refused.message))
        return False
    setattr(outcome, became, getattr(outcome, became) + 1)
    return became != "left"


def _created(kind: Portable, thing: Thing, target: Target, *, update: bool) -> Literal["created", "updated", "left"]:
    # A trigger tells no time, and its schedule must begin now.
    created, modified = times(thing)
    target.set_time(created)
    if kind.name == "schema versions":
        return "created" if target.keep_version(thing) else "left"
    name, request = kind.create(thing)
    try:
        target.operate(name, request)
    except ServiceError as refused:
        if refused.code not in _EXISTS:
            raise
        if not update or kind.change is None:
            return "left"
        became: Literal["created", "updated"] = "updated"
    else:
        if kind.change is None or modified is None or modified == created:
            return "created"
        became = "created"
    target.set_time(modified)
    name, request = kind.change(thing)
    target.operate(name, request)
    return became


def _finish(kind: Portable, thing: Thing, outcome: Outcome, target: Target) -> None:
    """Set what can only be set when everything exists, and compare the thing with the dump."""
    target.set_time(times(thing)[1])
    with suppress(ServiceError):  # the comparison shows it
        if kind.name == "triggers" and thing.get("State") == _DEACTIVATED:
            target.operate("StopTrigger", {"Name": thing["Name"]})
        if kind.name == "schemas" and thing.get("SchemaCheckpoint"):
            number = {"SchemaVersionNumber": {"VersionNumber": thing["SchemaCheckpoint"]}}
            target.operate("UpdateSchema", {**kind.show(thing)[1], **number})
    name, request = kind.show(thing)
    answer = target.operate(name, request)
    count, differing = changed(model_of("glue").shape_for(kind.shape), thing, answer.get(kind.shown, answer))
    outcome.fields += count
    outcome.not_kept.update(map(general, differing))
