"""Steps that choose and name fields and leave values alone (docs/glue 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gluepot.frames.chunk import Chunk
from gluepot.frames.columns import Column, batch_of, columns_of
from gluepot.frames.transforms.paths import Path, Sought, find, parse_path
from gluepot.frames.transforms.structs import only, put, renamed, without


@dataclass(frozen=True, slots=True)
class _ByPaths:
    """Names fields by their paths.

    Args:
        paths: see `parse_path`; case counts.
    """

    paths: Sequence[str]
    _parsed: frozenset[Path] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_parsed", frozenset(map(parse_path, self.paths)))

    @property
    def case_sensitive(self) -> bool:
        """Whether the case of the names counts."""
        return True

    @property
    def sought(self) -> Sequence[Sought]:
        """The fields that it names."""
        return [Sought(path, parse_path(path)) for path in self.paths]


@dataclass(frozen=True, slots=True)
class SelectFields(_ByPaths):
    """Keeps the named fields, in the frame's order; of structs, the named fields inside. Unknown paths are ignored.

    Args:
        paths: see `parse_path`; case counts.
    """

    @property
    def sources(self) -> frozenset[Path]:
        """The paths it looks at."""
        return self._parsed

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows with fewer fields; the errors stay."""
        return with_columns(chunk, only(columns_of(chunk.batch), self._parsed))


@dataclass(frozen=True, slots=True)
class DropFields(_ByPaths):
    """Removes the named fields; a struct that loses its last field goes, too. Unknown paths are ignored.

    Args:
        paths: see `parse_path`; case counts.
    """

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows with fewer fields; the errors stay."""
        return with_columns(chunk, without(columns_of(chunk.batch), self._parsed))


@dataclass(frozen=True, slots=True)
class RenameField:
    """Gives a field another name, or another place when the new path has other parents.

    A field that has the new name already is replaced. Nothing changes where there is no field `old`.

    Args:
        old: path of the field, see `parse_path`; case counts.
        new: full path it gets.
    """

    old: str
    new: str
    _paths: tuple[Path, Path] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_paths", (parse_path(self.old), parse_path(self.new)))

    @property
    def case_sensitive(self) -> bool:
        """Whether the case of the names counts."""
        return True

    @property
    def sought(self) -> Sequence[Sought]:
        """The fields that it asks for."""
        return [Sought(self.old, self._paths[0])]

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the rows with the field renamed; the errors stay."""
        columns, (old, new) = columns_of(chunk.batch), self._paths
        found = find(columns, old)
        if found is None or old == new:
            return chunk
        if old[:-1] == new[:-1]:
            return with_columns(chunk, renamed(without(columns, {new}), old, new[-1]))
        return with_columns(chunk, put(without(columns, {old}), new, found))


def with_columns(chunk: Chunk, columns: Sequence[Column]) -> Chunk:
    """Return a chunk with the columns in place of its own; the errors stay."""
    return replace(chunk, batch=batch_of(columns, chunk.batch.num_rows))
