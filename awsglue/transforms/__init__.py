"""`awsglue.transforms`, as job scripts import it."""

from __future__ import annotations

import json
from typing import Any

from awsglue.transforms.collections import FlatMap, MapToCollection, Relationalize, SelectFromCollection
from awsglue.transforms.fields import (
    ApplyMapping,
    DropFields,
    DropNullFields,
    RenameField,
    ResolveChoice,
    SelectFields,
    SplitFields,
    Unbox,
    UnnestFrame,
)
from awsglue.transforms.rows import (
    Coalesce,
    ErrorsAsDynamicFrame,
    Filter,
    Join,
    Map,
    Repartition,
    Spigot,
    SplitRows,
    Union,
)
from awsglue.transforms.transform import GlueTransform as GlueTransform

__all__ = [
    "ApplyMapping",
    "Coalesce",
    "DropFields",
    "DropNullFields",
    "ErrorsAsDynamicFrame",
    "Filter",
    "FlatMap",
    "Join",
    "Map",
    "MapToCollection",
    "Relationalize",
    "RenameField",
    "Repartition",
    "ResolveChoice",
    "SelectFields",
    "SelectFromCollection",
    "Spigot",
    "SplitFields",
    "SplitRows",
    "Unbox",
    "Union",
    "UnnestFrame",
]


def get_transforms() -> list[type[GlueTransform]]:
    """Return all transforms."""
    return [globals()[name] for name in __all__]


def get_transform(name: str) -> type[GlueTransform] | None:
    """Return the transform of this name, in any letter case; None if there is none."""
    return next((one for one in get_transforms() if one.name().lower() == name.lower()), None)


def describe_transform(name: str) -> str | None:
    """Return the result of a transform's `describe` as JSON; None if there is no such transform."""
    found = get_transform(name)
    description: Any = None if found is None else found.describe()
    return None if found is None else json.dumps(description)
