"""One entry of ApplyMapping, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from gluepot.frames.schema.glue_types import NESTED_NAMES, arrow_type, canonical_name
from gluepot.frames.transforms.paths import Path, parse_path


@dataclass(frozen=True, slots=True)
class Mapping:
    """The source and the target of one field.

    Args:
        source: path in the incoming record.
        source_type: canonical name of the type the value must have; None for any.
        target: path in the outgoing record.
        target_type: canonical name of the type it gets; None to leave it.
    """

    source: Path
    source_type: str | None
    target: Path
    target_type: str | None

    @property
    def target_arrow_type(self) -> pa.DataType | None:
        """The type to cast to; None where the value keeps its own, as nested ones do."""
        return None if self.target_type is None or self.target_type in NESTED_NAMES else arrow_type(self.target_type)


def parse_mapping(entry: Any) -> Mapping:
    """Read (source, target), (source, target, type) or (source, source type, target, target type); docs/glue 6.3.

    Raises:
        TypeError: not a tuple.
        ValueError: another length, or a path that cannot be read.
        ConfigError: the target type is not known.
    """
    if not isinstance(entry, tuple):
        raise TypeError(f"mapping {entry!r} is not a tuple; write (source, source type, target, target type).")
    match entry:
        case (source, target):
            source_type = target_type = None
        case (source, target, target_type):
            source_type = None
        case (source, source_type, target, target_type):
            pass
        case _:
            raise ValueError(f"mapping {entry!r} has {len(entry)} parts; write 2, 3 or 4 of them.")
    mapping = Mapping(
        parse_path(source),
        None if source_type is None else canonical_name(source_type),
        parse_path(target),
        None if target_type is None else canonical_name(target_type),
    )
    _ = mapping.target_arrow_type  # an unknown type fails here, not in a task
    return mapping
