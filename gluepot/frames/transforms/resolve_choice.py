"""ResolveChoice: resolves fields with several types (docs/glue 6.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Chunk, is_choice
from gluepot.frames.columns import Column, batch_of, columns_of
from gluepot.frames.schema import align
from gluepot.frames.schema.glue_types import NESTED_NAMES, arrow_type, canonical_name, glue_name
from gluepot.frames.time_zone import UTC, TimeZone
from gluepot.frames.transforms.choices import as_struct, cast, lost_values, project, separate
from gluepot.frames.transforms.naming import refuse_twins
from gluepot.frames.transforms.paths import ITEMS, Path, parse_path
from gluepot.frames.transforms.steps import output_schema
from gluepot.frames.transforms.walk import paths_of, rewritten


@dataclass(frozen=True, slots=True)
class Action:
    """One action of ResolveChoice.

    Args:
        kind: `cast`, `project`, `make_cols` or `make_struct`.
        type_name: canonical name of the type of `cast` and `project`, empty for the others.
    """

    kind: str
    type_name: str = ""


@dataclass(frozen=True, slots=True)
class ResolveChoice:
    """The actions that a script requests; `bound` makes a step from them.

    One chunk does not show whether a field is a choice, because it may hold only one of the types. So the step needs
    the schema of all records, except if every spec is a cast, which works the same way for any type.

    Args:
        specs: path and action of single fields; `[]` after a name leads into the elements of an array.
        choice: action for every other choice; empty to leave them.
        zone: the zone of casts.

    Raises:
        ConfigError: an action is not known, or names a type that is not.
        ValueError: a path cannot be read.
    """

    specs: Sequence[tuple[str, str]] = ()
    choice: str = ""
    zone: TimeZone = UTC
    _actions: Mapping[Path, Action] = field(init=False, repr=False, compare=False)
    _otherwise: Action | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        actions = {parse_path(path, deep=True): parse_action(action) for path, action in self.specs}
        object.__setattr__(self, "_actions", actions)
        object.__setattr__(self, "_otherwise", parse_action(self.choice) if self.choice else None)

    @property
    def needs_schema(self) -> bool:
        """Whether `bound` must be given a schema."""
        return self._otherwise is not None or any(action.kind != "cast" for action in self._actions.values())

    def bound(self, schema: pa.Schema | None) -> ResolveFields:
        """Return the step.

        Args:
            schema: of all records, by which the step decides, the same in every task; None only if not needed.

        Raises:
            ConfigError: a new column would have the name of another one.
        """
        actions = dict(self._actions)
        if schema is None:
            return ResolveFields(actions, zone=self.zone)
        choices = {path for path, one in paths_of(list(schema)) if is_choice(one)}
        if self._otherwise is not None:
            actions = dict.fromkeys(choices, self._otherwise) | actions
        # Fields with one type are left alone, but for casts.
        wanted = {path: action for path, action in actions.items() if action.kind == "cast" or path in choices}
        return ResolveFields(wanted, schema, self.zone)


@dataclass(frozen=True, slots=True)
class ResolveFields:
    """Applies an action to each of the fields named.

    Args:
        actions: by deep path.
        schema: what every chunk is brought to first, so that each has the same choices; None where only casts are.
        zone: the zone of casts.
    """

    actions: Mapping[Path, Action]
    schema: pa.Schema | None = None
    zone: TimeZone = UTC

    def __post_init__(self) -> None:
        if self.schema is not None:
            fields = paths_of(list(output_schema([self], self.schema)))
            refuse_twins(Counter(".".join(path) for path, _ in fields if path[-1] != ITEMS))

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows resolved; the errors stay."""
        batch = chunk.batch if self.schema is None else align(chunk.batch, self.schema)
        misfits = Counter[str](chunk.misfits)

        def resolved(path: Path, column: Column) -> Sequence[Column]:
            found = self._resolved(path, column)
            action = self.actions.get(path)
            if action is not None and action.type_name and (lost := lost_values(column, found[0])):
                misfits[".".join(path)] += lost
            return found

        return replace(chunk, batch=batch_of(rewritten(columns_of(batch), resolved), batch.num_rows), misfits=misfits)

    def _resolved(self, path: Path, column: Column) -> Sequence[Column]:
        match self.actions.get(path):
            case None:
                return [column]
            case Action("cast", type_name):
                return [cast(column, arrow_type(type_name), self.zone)]
            case Action("project", type_name):
                return [project(column, type_name, self.zone)]
            case Action("make_cols") if path[-1] != ITEMS:
                return separate(column)
            case _:  # elements of an array and values of a map have one column only, so make_cols is a struct there
                return [as_struct(column)]


def casts_to(schema: pa.Schema) -> list[tuple[str, str]]:
    """Return the specs that cast every field of scalar type, inside structs too, to the type it has in the schema."""
    return [spec for field in schema for spec in _casts_to(f"`{field.name}`", field.type)]


def _casts_to(path: str, kind: pa.DataType) -> list[tuple[str, str]]:
    if pa.types.is_struct(kind):
        return [spec for field in kind for spec in _casts_to(f"{path}.`{field.name}`", field.type)]
    return [] if pa.types.is_nested(kind) else [(path, f"cast:{glue_name(kind)}")]


def parse_action(text: str) -> Action:
    """Read `cast:<type>`, `project:<type>`, `make_cols` or `make_struct`, in any letter case.

    Raises:
        ConfigError: it is none of them, or the type is not known.
    """
    kind, colon, type_name = text.strip().partition(":")
    kind = kind.strip().lower()
    if kind in {"make_cols", "make_struct"} and not colon:
        return Action(kind)
    if kind in {"cast", "project"} and colon:
        canonical = canonical_name(type_name)
        if kind == "cast" or canonical not in NESTED_NAMES:
            arrow_type(canonical)  # an unknown type is told here, not in a task
        return Action(kind, canonical)
    raise ConfigError(
        f"action '{text}' is not known; use cast:<type>, project:<type>, make_cols, make_struct, or match_catalog as "
        "the choice."
    )
