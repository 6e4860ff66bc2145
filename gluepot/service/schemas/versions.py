"""Versions of schemas as values. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

AVAILABLE, FAILURE = "AVAILABLE", "FAILURE"


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """A version of a schema.

    Args:
        id: of the version; records in streams name it.
        schema: `REGISTRY/NAME`.
        number: from 1.
        status: `AVAILABLE`, or `FAILURE` if it was not compatible.
        definition: as it was given.
        digest: of the definition without what has no meaning.
        metadata: pairs of key and value with the time when they were put, the newest last.
        created_ms: milliseconds since 1970.
    """

    id: str
    schema: str
    number: int
    status: str
    definition: str
    digest: str
    metadata: Sequence[Mapping[str, Any]]
    created_ms: int

    @property
    def is_available(self) -> bool:
        """Whether records may use it."""
        return self.status == AVAILABLE
