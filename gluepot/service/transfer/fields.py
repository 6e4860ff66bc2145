"""Fields of what AWS's command line prints: which ones a request takes, and which ones came back unchanged. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape

_NUMBER = re.compile(r"/\d+(?=/|$)")
_MISSING = object()
_CREATED = ("CreatedOn", "CreateTime", "CreationTime", "CreatedTime", "CreatedTimeStamp")
_MODIFIED = ("LastModifiedOn", "UpdateTime", "LastUpdatedTime", "UpdatedTime", "LastUpdated")


def fitting(shape: Shape, value: Any, *, unknown: bool = False) -> Any:
    """Return a value with the form that the protocol has for a shape.

    AWS's command line prints times as texts; the protocol has numbers of seconds.

    Args:
        shape: of AWS's model.
        value: what was printed.
        unknown: keep members that the shape does not have.
    """
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        return {
            name: fitting(shape.members[name], one, unknown=unknown) if name in shape.members else one
            for name, one in value.items()
            if one is not None and (unknown or name in shape.members)
        }
    if isinstance(shape, ListShape) and isinstance(value, list):
        return [fitting(shape.member, one, unknown=unknown) for one in value]
    if isinstance(shape, MapShape) and isinstance(value, Mapping):
        return {name: fitting(shape.value, one, unknown=unknown) for name, one in value.items()}
    if shape.type_name == "timestamp" and isinstance(value, str):
        return _seconds(value)
    return value


def printed(shape: Shape, value: Any) -> Any:
    """Return an answer as AWS's command line prints it: times as texts."""
    if isinstance(shape, StructureShape):
        return {
            name: printed(shape.members[name], one) if name in shape.members else one for name, one in value.items()
        }
    if isinstance(shape, ListShape):
        return [printed(shape.member, one) for one in value]
    if isinstance(shape, MapShape):
        return {name: printed(shape.value, one) for name, one in value.items()}
    if shape.type_name == "timestamp":
        return datetime.fromtimestamp(value, UTC).isoformat()
    return value


def fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what is at the ends of a value, with its path, such as `/Actions/0/JobName`. Empty lists hold no field."""
    if isinstance(value, Mapping | list):
        for name, one in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from fields(one, f"{path}/{name}")
    else:
        yield path, value


def changed(shape: Shape, dumped: Any, found: Any) -> tuple[int, list[str]]:
    """Return the number of fields of a dump, and the paths of those that are not in an answer or differ there.

    Args:
        shape: of both.
        dumped: from a file.
        found: the answer.
    """
    wanted = dict(fields(fitting(shape, dumped, unknown=True)))
    given = dict(fields(fitting(shape, found, unknown=True)))
    differing = [path for path, value in wanted.items() if not _same(given.get(path, _MISSING), value)]
    return len(wanted), differing


def times(thing: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return when a thing was created and when it was changed, in seconds since 1970; None where it does not tell.

    Args:
        thing: of any kind; a classifier has its times one member below.
    """
    inner = next(iter(thing.values())) if len(thing) == 1 else thing
    told = inner if isinstance(inner, Mapping) else thing
    created, modified = (
        next((told[name] for name in names if told.get(name)), None) for names in (_CREATED, _MODIFIED)
    )
    return _number(created), _number(modified)


def general(path: str) -> str:
    """Return a path without the numbers of list members: `/Actions/*/JobName`."""
    return _NUMBER.sub("/*", path)


def _same(first: Any, second: Any) -> bool:
    return bool(first == second) and isinstance(first, bool) == isinstance(second, bool)


def _number(value: Any) -> float | None:
    seconds = _seconds(value) if isinstance(value, str) else value
    return float(seconds) if isinstance(seconds, int | float) else None


def _seconds(text: str) -> Any:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text  # the check of the request refuses it with its place
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
