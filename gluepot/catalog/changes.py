"""What differs between two versions of a table, in words. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

_FORMATS = {"InputFormat": "input format", "OutputFormat": "output format"}


def changes_in_words(before: Mapping[str, Any], after: Mapping[str, Any], without: Collection[str] = ()) -> list[str]:
    """Return what differs between two bodies of a table: columns, keys, format, parameters.

    Args:
        before: as GetTable answers.
        after: likewise.
        without: names of parameters that do not count.
    """
    old, new = ({one["Name"]: one for one in _columns(body)} for body in (before, after))
    told = [f"new column {name} {one.get('Type')}" for name, one in new.items() if name not in old]
    told += [f"column {name} is gone" for name in old if name not in new]
    for name in (name for name in new if name in old):
        were, are = (str(columns[name].get("Type")) for columns in (old, new))
        told += [f"column {name} was {were} and is {are}"] if were != are else []
        comments = [columns[name].get("Comment") or "" for columns in (old, new)]
        if comments[0] != comments[1]:
            told.append(f"the comment of column {name} was {comments[0]!r} and is {comments[1]!r}")
    if list(old) != list(new) and old.keys() == new.keys():
        told.append("order of columns")
    told += _keys(before, after)
    told += _parameters(before.get("Parameters") or {}, after.get("Parameters") or {}, without)
    storages = [body.get("StorageDescriptor") or {} for body in (before, after)]
    told += _change("location", *(str(one.get("Location") or "") for one in storages))
    for member, title in _FORMATS.items():
        told += _change(title, *(str(one.get(member) or "") for one in storages))
    serdes = [one.get("SerdeInfo") or {} for one in storages]
    told += _change("SerDe", *(str(one.get("SerializationLibrary") or "") for one in serdes))
    told += _parameters(serdes[0].get("Parameters") or {}, serdes[1].get("Parameters") or {}, without, " of the SerDe")
    told += _change("description", *(str(body.get("Description") or "") for body in (before, after)))
    return told


def _columns(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list((body.get("StorageDescriptor") or {}).get("Columns") or ())


def _keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    keys = [
        ", ".join(f"{one['Name']} {one.get('Type', 'string')}" for one in body.get("PartitionKeys") or ())
        for body in (before, after)
    ]
    return [f"partition keys were {keys[0] or 'none'} and are {keys[1] or 'none'}"] if keys[0] != keys[1] else []


def _parameters(
    were: Mapping[str, Any], are: Mapping[str, Any], without: Collection[str], suffix: str = ""
) -> list[str]:
    names = [name for name in {**were, **are} if name not in without and were.get(name) != are.get(name)]
    return [f"{name}{suffix} was {were.get(name, 'not set')} and is {are.get(name, 'not set')}" for name in names]


def _change(title: str, was: str, now: str) -> list[str]:
    return [f"{title} was {was or 'not set'} and is {now or 'not set'}"] if was != now else []
