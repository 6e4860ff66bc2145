"""ApplyMapping: pick, rename, move and cast fields (docs/glue 6.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Chunk
from gluepot.frames.columns import Column, batch_of, columns_of, struct_column
from gluepot.frames.schema.glue_types import NESTED_NAMES
from gluepot.frames.time_zone import UTC, TimeZone
from gluepot.frames.transforms.choices import cast, lost_values
from gluepot.frames.transforms.mapping import Mapping, parse_mapping
from gluepot.frames.transforms.paths import Path, Sought, find
from gluepot.frames.transforms.source_types import of_declared_type

_Tree = dict[str, "Column | _Tree"]


@dataclass(frozen=True, slots=True)
class ApplyMapping:
    """Keeps only the mapped fields, in the order of the mappings.

    Every mapping gives its field in every chunk. If the chunk has no such source field, all its values are null, so
    the rows of a stream keep one shape while fields come and go. The field's type is then null only if neither side
    names a type. A failed cast gives null, and is counted. A nested target is null where all of its fields are null. If
    two mappings have the same target, the later one counts.

    Args:
        mappings: tuples of 2, 3 or 4, see `parse_mapping`.
        case_sensitive: whether the case of source names counts.
        zone: the zone of casts.

    Raises:
        TypeError: a mapping is not a tuple.
        ValueError: a mapping has another length, or a path that cannot be read.
        ConfigError: a type is not known, or a target is both a field and a struct of others.
    """

    mappings: Sequence[tuple[str, ...]]
    case_sensitive: bool = False
    zone: TimeZone = UTC
    _parsed: tuple[Mapping, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parsed = tuple(parse_mapping(entry) for entry in self.mappings)
        _refuse_clashes([mapping.target for mapping in parsed])
        object.__setattr__(self, "_parsed", parsed)

    @property
    def names_every_type(self) -> bool:
        """Whether the schema of the result does not depend on the records."""
        return all(mapping.target_arrow_type is not None for mapping in self._parsed)

    @property
    def repeated_targets(self) -> Sequence[str]:
        """The targets of two or more mappings, of which the last one counts."""
        counts = Counter(mapping.target for mapping in self._parsed)
        return [".".join(target) for target, count in counts.items() if count > 1]

    @property
    def sources(self) -> frozenset[Path]:
        """The paths it looks at."""
        return frozenset(mapping.source for mapping in self._parsed)

    @property
    def sought(self) -> Sequence[Sought]:
        """The fields that it asks for."""
        return [
            Sought(str(entry[0]), mapping.source) for entry, mapping in zip(self.mappings, self._parsed, strict=True)
        ]

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the mapped rows; the errors stay."""
        rows, columns = chunk.batch.num_rows, columns_of(chunk.batch)
        tree: _Tree = {}
        misfits = Counter[str](chunk.misfits)
        for mapping in self._parsed:
            found = find(columns, mapping.source, case_sensitive=self.case_sensitive)
            mapped = _mapped(found, mapping, rows, self.zone)
            if found is not None and (lost := lost_values(found, mapped)):
                misfits[".".join(mapping.source)] += lost
            _put(tree, mapping.target, mapped)
        return replace(chunk, batch=batch_of(_grown(tree, rows), rows), misfits=misfits)


def _mapped(source: Column | None, mapping: Mapping, rows: int, zone: TimeZone) -> Column:
    if source is None:
        source = Column(pa.field("", pa.null()), pa.nulls(rows))
    if mapping.source_type is not None:
        source = of_declared_type(source, mapping.source_type)
    if mapping.target_type in NESTED_NAMES:
        return of_declared_type(source, mapping.target_type)
    target = mapping.target_arrow_type
    return source if target is None else cast(source, target, zone)


def _put(tree: _Tree, path: Path, column: Column) -> None:
    for name in path[:-1]:
        branch = tree.setdefault(name, {})
        assert isinstance(branch, dict)  # _refuse_clashes has seen to it
        tree = branch
    tree[path[-1]] = column


def _grown(tree: _Tree, rows: int) -> list[Column]:
    return [
        branch.renamed(name) if isinstance(branch, Column) else _struct(name, _grown(branch, rows), rows)
        for name, branch in tree.items()
    ]


def _struct(name: str, children: Sequence[Column], rows: int) -> Column:
    valid = children[0].array.is_valid()
    for child in children[1:]:
        valid = pc.or_(valid, child.array.is_valid())
    return struct_column(name, children, rows, valid)


def _refuse_clashes(targets: Sequence[Path]) -> None:
    above = {target[:length] for target in targets for length in range(1, len(target))}
    if clash := next((target for target in targets if target in above), None):
        raise ConfigError(
            f"target '{'.'.join(clash)}' is both a field and a struct of other targets; rename one of them."
        )
