"""Paths to fields: `user.name`, where backquotes protect dots that belong to a name: `` `user.name` ``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from gluepot.frames.chunk import is_choice
from gluepot.frames.columns import Column, children_of

Path = tuple[str, ...]

ITEMS = "[]"
"""The step of a deep path that leads from an array to its elements."""


class Sought(NamedTuple):
    """A field that a step asks for: as the script names it, and its path."""

    name: str
    path: Path


_STEP = re.compile(r"`([^`]*)`|([^.`]+)")


def parse_path(text: str, *, deep: bool = False) -> Path:
    """Return the names from the outermost to the innermost field.

    Args:
        text: names joined by dots.
        deep: read `[]` after a name outside backquotes as a step of its own, into the elements (`list[].price`).

    Raises:
        ValueError: empty, or with an unpaired backquote or an empty name outside backquotes.
    """
    names: list[str] = []
    at = 0
    while step := _STEP.match(text, at):
        if step[1] is None:
            names += _with_items(step[2]) if deep else [step[2]]
        else:
            names.append(step[1])
        at = step.end()
        if at == len(text):
            return tuple(names)
        if text[at] != ".":
            break
        at += 1
    raise ValueError(f"path '{text}' cannot be read; write names joined by dots, names with dots in backquotes.")


def _with_items(name: str) -> list[str]:
    bare = name
    while bare.endswith(ITEMS):
        bare = bare.removesuffix(ITEMS)
    return [bare, *[ITEMS] * ((len(name) - len(bare)) // len(ITEMS))]


def find(columns: Sequence[Column], path: Path, *, case_sensitive: bool = True) -> Column | None:
    """Return the column a path leads to through structs, or None. Null where a struct on the way is null.

    Without `case_sensitive` a name of equal spelling still comes before one that differs in case.
    """
    found = _named(columns, path[0], case_sensitive)
    if found is None or len(path) == 1:
        return found
    struct = struct_side(found)
    return None if struct is None else find(children_of(struct), path[1:], case_sensitive=case_sensitive)


def struct_side(column: Column) -> Column | None:
    """Return the column if it is a struct, the struct alternative if it is a choice that has one, else None."""
    if is_choice(column.field):
        return _named(children_of(column), "struct", case_sensitive=True)
    return column if pa.types.is_struct(column.field.type) else None


def _named(columns: Sequence[Column], name: str, case_sensitive: bool) -> Column | None:
    equal = [column for column in columns if column.field.name == name]
    if equal or case_sensitive:
        return equal[0] if equal else None
    return next((column for column in columns if column.field.name.casefold() == name.casefold()), None)
